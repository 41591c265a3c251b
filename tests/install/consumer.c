/* What tools/test-install builds outside the tree: two blobs on a line, told apart. */
#include <scmk.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const double x[6] = {0.0, 0.1, 0.2, 5.0, 5.1, 5.2};
    const int32_t expected[6] = {0, 0, 0, 1, 1, 1};
    int32_t labels[6];
    scmk_model *model = NULL;
    scmk_status status = scmk_create(6, 2, &model);
    if (status == SCMK_OK)
        status = scmk_add_features(model, x, 6, 1, 1, 1, "gaussian(t=0.1)");
    if (status == SCMK_OK)
        status = scmk_fit(model);
    if (status == SCMK_OK)
        status = scmk_labels(model, labels, 6);
    if (status != SCMK_OK) {
        char message[256] = "";
        scmk_error_message(model, message, sizeof message, NULL);
        fprintf(stderr, "%s: %s\n", scmk_status_name(status), message);
    }
    scmk_destroy(model);
    if (status != SCMK_OK || memcmp(labels, expected, sizeof expected) != 0)
        return 1;
    puts(scmk_version());
    return 0;
}
