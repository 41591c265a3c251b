/* What the examples print, and how they end when a call fails. */
#ifndef SCMK_EXAMPLE_REPORT_H
#define SCMK_EXAMPLE_REPORT_H

#include <scmk.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call returns a status; the first that is not SCMK_OK ends main with the message. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        scmk_status status_ = (call);                                                              \
        if (status_ != SCMK_OK)                                                                    \
            return failed(model, status_);                                                         \
    } while (0)

static inline int failed(scmk_model *model, scmk_status status) {
    char message[512] = "";
    scmk_error_message(model, message, sizeof message, NULL);
    fprintf(stderr, "%s: %s\n", scmk_status_name(status), message);
    scmk_destroy(model); /* NULL is fine */
    return EXIT_FAILURE;
}

/* The first labels, the size of each cluster, and the weights by the names of the views. */
static inline void show(const int32_t *labels, size_t n, int clusters, const double *weights,
                        const char *const *names, int count) {
    printf("labels   ");
    for (size_t i = 0; i < 25 && i < n; i++)
        printf(" %d", (int)labels[i]);
    printf(" ...\nclusters ");
    for (int c = 0; c < clusters; c++) {
        size_t size = 0;
        for (size_t i = 0; i < n; i++)
            size += labels[i] == c;
        printf(" %d:%zu", c, size);
    }
    printf("\nweights  ");
    for (int k = 0; k < count; k++)
        printf(" %s:%.4f", names[k], weights[k]);
    printf("\n");
}

#endif
