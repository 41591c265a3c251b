/* Clusters 400 handwritten digits that are described in six ways (views), with nothing set by hand.
 * Build: cc quickstart.c $(pkg-config --cflags --libs scmk)    Run: ./a.out DATA_FOLDER */
#include "csv.h"
#include "report.h"
#include <scmk.h>

enum { N = 400, CLUSTERS = 10, VIEWS = 6 };
static const char *const VIEW[VIEWS] = {"fou", "fac", "kar", "pix", "zer", "mor"};

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "examples/data/digits";
    static int32_t truth[N], labels[N];
    double weights[VIEWS], accuracy, nmi, silhouette, gap, seconds;
    char warning[512];
    scmk_model *model = NULL;

    TRY(scmk_create(N, CLUSTERS, &model));
    for (int v = 0; v < VIEWS; v++) {
        csv_table x = csv_read(folder, VIEW[v]);
        TRY(scmk_add_features(model, x.values, x.rows, x.cols, x.cols, 1, "auto"));
        free(x.values); /* the model looks at it no more */
    }
    TRY(scmk_fit(model));

    TRY(scmk_labels(model, labels, N));
    TRY(scmk_weights(model, weights, VIEWS));
    TRY(scmk_info_real(model, "silhouette", &silhouette));
    TRY(scmk_info_text(model, "warning", warning, sizeof warning, NULL));
    TRY(scmk_info_real(model, "kkt_residual", &gap));
    TRY(scmk_info_real(model, "seconds", &seconds));

    /* The true digits come in only now, to judge what was found without them. */
    csv_integers(folder, "labels", truth, N);
    TRY(scmk_metric("accuracy", truth, labels, N, &accuracy));
    TRY(scmk_metric("nmi", truth, labels, N, &nmi));
    show(labels, N, CLUSTERS, weights, VIEW, VIEWS);
    printf("quality   accuracy %.1f %%, NMI %.1f %%; without labels: silhouette %.3f%s%s\n",
           100 * accuracy, 100 * nmi, silhouette, *warning ? ", warning: " : "", warning);
    printf("solved    in %.2f s, relative duality gap at most %.1e\n", seconds, gap);
    scmk_destroy(model);
    return EXIT_SUCCESS;
}
