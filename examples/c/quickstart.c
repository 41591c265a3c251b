/* Clusters 400 handwritten digits that are described in six ways (views), one kernel a view.
 * Build: cc quickstart.c $(pkg-config --cflags --libs scmk) -lm    Run: ./a.out DATA_FOLDER */
#include "csv.h"
#include "report.h"
#include <scmk.h>

enum { N = 400, CLUSTERS = 10, VIEWS = 6 };
static const char *const VIEW[VIEWS] = {"fou", "fac", "kar", "pix", "zer", "mor"};

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "examples/data/digits";
    static int32_t truth[N], labels[N];
    double weights[VIEWS], accuracy, nmi, gap, seconds;
    scmk_model *model = NULL;
    csv_integers(folder, "labels", truth, N);

    TRY(scmk_create(N, CLUSTERS, &model));
    for (int v = 0; v < VIEWS; v++) {
        csv_table x = csv_standardized(csv_read(folder, VIEW[v]));
        TRY(scmk_add_features(model, x.values, x.rows, x.cols, x.cols, 1, "gaussian(t=0.2)"));
        free(x.values); /* the model keeps kernels, not features */
    }
    TRY(scmk_set_real(model, "alpha", 30)); /* large: no view takes all the weight */
    TRY(scmk_set_text(model, "embedding", "normalized"));
    TRY(scmk_fit(model));

    TRY(scmk_labels(model, labels, N));
    TRY(scmk_weights(model, weights, VIEWS));
    TRY(scmk_info_real(model, "kkt_residual", &gap));
    TRY(scmk_info_real(model, "seconds", &seconds));
    TRY(scmk_metric("accuracy", truth, labels, N, &accuracy));
    TRY(scmk_metric("nmi", truth, labels, N, &nmi));
    show(labels, N, CLUSTERS, weights, VIEW, VIEWS);
    printf("quality   accuracy %.1f %%, NMI %.1f %%\n", 100 * accuracy, 100 * nmi);
    printf("solved    in %.2f s, relative duality gap at most %.1e\n", seconds, gap);
    scmk_destroy(model);
    return EXIT_SUCCESS;
}
