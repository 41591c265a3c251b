/* Tables of numbers separated by commas: just enough for the examples. */
#ifndef SCMK_EXAMPLE_CSV_H
#define SCMK_EXAMPLE_CSV_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double *values; /* row after row: entry (i, j) is values[i * cols + j]; free() it */
    size_t rows, cols;
} csv_table;

/* On failure says why on stderr and ends the program. */
static inline csv_table csv_read(const char *folder, const char *name) {
    csv_table table = {NULL, 0, 0};
    size_t count = 0, capacity = 0;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s.csv", folder, name) >= (int)sizeof path) {
        fprintf(stderr, "%s: the path is too long\n", folder);
        exit(EXIT_FAILURE);
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    double value;
    while (fscanf(file, "%lf", &value) == 1) {
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            double *grown = realloc(table.values, capacity * sizeof *grown);
            if (grown == NULL) {
                perror(path);
                exit(EXIT_FAILURE);
            }
            table.values = grown;
        }
        table.values[count++] = value;
        if (fgetc(file) != ',')
            table.rows++;
    }
    int unread = !feof(file);
    fclose(file);
    if (unread || table.rows == 0 || count % table.rows != 0) {
        fprintf(stderr, "%s: not a table of numbers separated by commas\n", path);
        exit(EXIT_FAILURE);
    }
    table.cols = count / table.rows;
    return table;
}

/* The first n numbers of a table, as whole ones. */
static inline void csv_integers(const char *folder, const char *name, int32_t *out, size_t n) {
    csv_table table = csv_read(folder, name);
    if (table.rows * table.cols < n) {
        fprintf(stderr, "%s/%s.csv: fewer than %zu numbers\n", folder, name, n);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)table.values[i];
    free(table.values);
}

#endif
