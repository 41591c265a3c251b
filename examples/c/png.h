/* Writes an image of at most 256 colours as PNG, uncompressed: no library needed. */
#ifndef SCMK_EXAMPLE_PNG_H
#define SCMK_EXAMPLE_PNG_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void png_bytes(FILE *file, const uint8_t *bytes, size_t len, uint32_t *crc) {
    for (size_t i = 0; i < len; i++) {
        *crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            *crc = (*crc >> 1) ^ (0xEDB88320u & (0u - (*crc & 1u)));
    }
    fwrite(bytes, 1, len, file);
}

static void png_u32(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t png_begin(FILE *file, const char *type, uint32_t len) {
    uint8_t length[4];
    uint32_t crc = 0xFFFFFFFFu;
    png_u32(length, len);
    fwrite(length, 1, 4, file);
    png_bytes(file, (const uint8_t *)type, 4, &crc);
    return crc;
}

static void png_end(FILE *file, uint32_t crc) {
    uint8_t sum[4];
    png_u32(sum, ~crc);
    fwrite(sum, 1, 4, file);
}

/* `pixels` are indices into `palette`, row after row from the top. Returns 0 on success; on
 * failure errno tells why. Rows are stored as one block each, so width must be below 65535. */
static int png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                     uint8_t palette[256][3]) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return -1;
    uint32_t crc, row = width + 1, a = 1, b = 0;
    uint8_t header[13] = {0}, sum[4];
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);

    png_u32(header, width);
    png_u32(header + 4, height);
    header[8] = 8; /* bits a pixel */
    header[9] = 3; /* palette */
    crc = png_begin(file, "IHDR", 13);
    png_bytes(file, header, 13, &crc);
    png_end(file, crc);

    crc = png_begin(file, "PLTE", 768);
    png_bytes(file, palette[0], 768, &crc);
    png_end(file, crc);

    crc = png_begin(file, "IDAT", 2 + height * (5 + row) + 4);
    png_bytes(file, (const uint8_t *)"\x78\x01", 2, &crc);
    for (uint32_t y = 0; y < height; y++, pixels += width) {
        uint8_t block[6] = {y + 1 == height, (uint8_t)row, (uint8_t)(row >> 8), (uint8_t)~row,
                            (uint8_t)(~row >> 8), 0 /* the row's filter: none */};
        png_bytes(file, block, 6, &crc);
        png_bytes(file, pixels, width, &crc);
        b = (b + a) % 65521; /* the filter byte */
        for (uint32_t x = 0; x < width; x++) {
            a = (a + pixels[x]) % 65521;
            b = (b + a) % 65521;
        }
    }
    png_u32(sum, b << 16 | a);
    png_bytes(file, sum, 4, &crc);
    png_end(file, crc);

    crc = png_begin(file, "IEND", 0);
    png_end(file, crc);
    int failed = ferror(file);
    return fclose(file) != 0 || failed ? -1 : 0;
}

#endif
