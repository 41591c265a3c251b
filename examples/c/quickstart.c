/* Clusters 400 handwritten digits that are described in six ways (views), one kernel a view.
 * Build: cc quickstart.c $(pkg-config --cflags --libs scmk) -lm    Run: ./a.out DATA_FOLDER
 */
#include "csv.h"
#include <scmk.h>

enum { CLUSTERS = 10, VIEWS = 6 };
static const char *const VIEW[VIEWS] = {"fou", "fac", "kar", "pix", "zer", "mor"};

/* Every call returns a status; the first that is not SCMK_OK ends the work. */
#define TRY(call) if ((status = (call)) != SCMK_OK) goto done

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "examples/data/digits";
    csv_table digits = csv_read(folder, "labels");
    size_t n = digits.rows, sizes[CLUSTERS] = {0};
    int32_t *truth = malloc(n * sizeof *truth), *labels = malloc(n * sizeof *labels);
    double weights[VIEWS], accuracy, nmi, gap, seconds; scmk_model *model = NULL;
    scmk_status status = SCMK_E_OUT_OF_MEMORY;
    if (truth == NULL || labels == NULL) goto done;
    for (size_t i = 0; i < n; i++) truth[i] = (int32_t)digits.values[i];

    TRY(scmk_create(n, CLUSTERS, &model));
    for (int v = 0; v < VIEWS; v++) {
        csv_table x = csv_standardized(csv_read(folder, VIEW[v]));
        status = scmk_add_features(model, x.values, x.rows, x.cols, x.cols, 1, "gaussian(t=0.2)");
        free(x.values); /* the model keeps kernels, not features */
        if (status != SCMK_OK) goto done;
    }
    TRY(scmk_set_real(model, "alpha", 30)); /* large: no view takes all the weight */
    TRY(scmk_set_text(model, "embedding", "normalized"));
    TRY(scmk_fit(model));

    TRY(scmk_labels(model, labels, n));
    TRY(scmk_weights(model, weights, VIEWS));
    TRY(scmk_info_real(model, "kkt_residual", &gap));
    TRY(scmk_info_real(model, "seconds", &seconds));
    TRY(scmk_metric("accuracy", truth, labels, n, &accuracy));
    TRY(scmk_metric("nmi", truth, labels, n, &nmi));
    for (size_t i = 0; i < n; i++) sizes[labels[i]]++;

    printf("labels   ");
    for (size_t i = 0; i < 25 && i < n; i++) printf(" %d", (int)labels[i]);
    printf(" ...\nclusters ");
    for (int c = 0; c < CLUSTERS; c++) printf(" %d:%zu", c, sizes[c]);
    printf("\nweights  ");
    for (int v = 0; v < VIEWS; v++) printf(" %s:%.4f", VIEW[v], weights[v]);
    printf("\nquality   accuracy %.1f %%, NMI %.1f %%\n", 100 * accuracy, 100 * nmi);
    printf("solved    in %.2f s, relative duality gap at most %.1e\n", seconds, gap);
done:
    if (status != SCMK_OK) {
        char message[512] = "";
        scmk_error_message(model, message, sizeof message, NULL);
        fprintf(stderr, "%s: %s\n", scmk_status_name(status), message);
    }
    scmk_destroy(model); /* NULL is fine */
    free(digits.values), free(truth), free(labels);
    return status == SCMK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
