/* Draws the similarity that quickstart.c learns, its rows and columns ordered by cluster.
 * Run: ./picture DATA_FOLDER PICTURE.png
 */
#include "csv.h"
#include "png.h"
#include <math.h>
#include <scmk.h>

enum { CLUSTERS = 10, VIEWS = 6 };
static const char *const VIEW[VIEWS] = {"fou", "fac", "kar", "pix", "zer", "mor"};

/* Layout in pixels: a strip with the true digits, a gap, then the matrix. */
enum { STRIP = 12, MARGIN = 16, CELL = 2 };

/* Palette: shades of similarity, the lines between clusters, the ten digits. */
enum { SHADES = 240, LINE = SHADES, DIGIT };

#define TRY(call) if ((status = (call)) != SCMK_OK) return status

/* The fit of quickstart.c; `z` is column-major n×n. */
static scmk_status learn(scmk_model *model, const char *folder, size_t n, int32_t *labels,
                         double *z) {
    scmk_status status;
    for (int v = 0; v < VIEWS; v++) {
        csv_table x = csv_read(folder, VIEW[v]);
        status = scmk_add_features(model, x.values, x.rows, x.cols, x.cols, 1, "auto");
        free(x.values);
        if (status != SCMK_OK)
            return status;
    }
    TRY(scmk_fit(model));
    TRY(scmk_labels(model, labels, n));
    TRY(scmk_similarity(model, z, n * n));
    return SCMK_OK;
}

/* White over blue to nearly black, red lines, and colours that can be told apart. */
static void fill_palette(uint8_t palette[256][3]) {
    static const double STOP[4][3] = {{255, 255, 255}, {120, 170, 214}, {24, 84, 150}, {6, 20, 52}};
    static const uint8_t REST[1 + CLUSTERS][3] = {
        {214, 66, 48},  {230, 159, 0}, {86, 180, 233},  {0, 158, 115},   {240, 228, 66},
        {0, 114, 178},  {213, 94, 0},  {204, 121, 167}, {150, 150, 150}, {130, 80, 200},
        {40, 40, 40}};
    memset(palette, 255, 256 * 3);
    for (int shade = 0; shade < SHADES; shade++) {
        double at = 3.0 * shade / (SHADES - 1);
        int stop = at < 2 ? (int)at : 2;
        const double *from = STOP[stop], *to = STOP[stop + 1];
        for (int k = 0; k < 3; k++)
            palette[shade][k] = (uint8_t)(from[k] + (at - stop) * (to[k] - from[k]));
    }
    memcpy(palette[LINE], REST, sizeof REST);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Makes `z` symmetric and stretches it to 0..1: white is what two arbitrary samples share (the
 * median), darkest is what one pair in two hundred exceeds, and the square root shows faint ties
 * beside strong ones. The diagonal, a sample's share in itself, would outshine everything: 0. */
static void to_shades(double *z, size_t n, double *scratch) {
    size_t pairs = 0;
    for (size_t j = 0; j < n; j++) {
        z[j + j * n] = 0;
        for (size_t i = 0; i < j; i++)
            scratch[pairs++] = z[i + j * n] = z[j + i * n] = (z[i + j * n] + z[j + i * n]) / 2;
    }
    qsort(scratch, pairs, sizeof *scratch, ascending);
    double low = scratch[pairs / 2], high = scratch[pairs - 1 - pairs / 200];
    for (size_t k = 0; k < n * n; k++) {
        double share = high > low ? (z[k] - low) / (high - low) : 0;
        z[k] = sqrt(share < 0 ? 0 : share > 1 ? 1 : share);
    }
}

/* By cluster, and inside a cluster by digit: strangers stand together. */
static void order_samples(const int32_t *labels, const double *digits, size_t n, size_t *order) {
    for (int cluster = 0; cluster < CLUSTERS; cluster++)
        for (int digit = 0; digit < 10; digit++)
            for (size_t i = 0; i < n; i++)
                if (labels[i] == cluster && (int)digits[i] == digit)
                    *order++ = i;
}

static void draw(uint8_t *pixels, size_t side, const double *z, size_t n, const size_t *order,
                 const int32_t *labels, const double *digits) {
    for (size_t y = MARGIN; y < side; y++) {
        size_t row = (y - MARGIN) / CELL, i = order[row];
        int new_row = (y - MARGIN) % CELL == 0 && row > 0 && labels[order[row - 1]] != labels[i];
        for (size_t x = 0; x < STRIP; x++)
            pixels[y * side + x] = pixels[x * side + y] = (uint8_t)(DIGIT + (int)digits[i]);
        for (size_t x = MARGIN; x < side; x++) {
            size_t col = (x - MARGIN) / CELL, j = order[col];
            int new_col = (x - MARGIN) % CELL == 0 && col > 0 && labels[order[col - 1]] != labels[j];
            uint8_t shade = (uint8_t)((SHADES - 1) * z[i + j * n]);
            pixels[y * side + x] = new_row || new_col ? LINE : shade;
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s DATA_FOLDER PICTURE.png\n", argv[0]);
        return EXIT_FAILURE;
    }
    csv_table digits = csv_read(argv[1], "labels");
    size_t n = digits.rows, side = MARGIN + CELL * n;
    int32_t *labels = malloc(n * sizeof *labels);
    size_t *order = malloc(n * sizeof *order);
    double *z = malloc(n * n * sizeof *z), *scratch = malloc(n * n * sizeof *scratch);
    uint8_t *pixels = calloc(side, side), palette[256][3];
    scmk_model *model = NULL;
    int written = 0;

    scmk_status status = SCMK_E_OUT_OF_MEMORY;
    if (labels != NULL && order != NULL && z != NULL && scratch != NULL && pixels != NULL)
        status = scmk_create(n, CLUSTERS, &model);
    if (status == SCMK_OK)
        status = learn(model, argv[1], n, labels, z);
    if (status == SCMK_OK) {
        order_samples(labels, digits.values, n, order);
        to_shades(z, n, scratch);
        fill_palette(palette);
        draw(pixels, side, z, n, order, labels, digits.values);
        written = png_write(argv[2], pixels, (uint32_t)side, (uint32_t)side, palette) == 0;
        if (written)
            printf("picture   %s: similarity by cluster; strips: true digit\n", argv[2]);
        else
            perror(argv[2]);
    } else {
        char message[512] = "";
        scmk_error_message(model, message, sizeof message, NULL);
        fprintf(stderr, "%s: %s\n", scmk_status_name(status), message);
    }
    scmk_destroy(model);
    free(digits.values), free(labels), free(order), free(z), free(scratch), free(pixels);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
