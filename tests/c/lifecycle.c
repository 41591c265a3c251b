/* Handles: created, destroyed, stale, invented; nothing of it may crash. */
#include "check.h"

static void identity(double *kernel, size_t n)
{
    size_t i;
    memset(kernel, 0, n * n * sizeof *kernel);
    for (i = 0; i < n; i++)
        kernel[i * n + i] = 1;
}

int main(void)
{
    scmk_model *model = NULL, *other = NULL, *reused = NULL;
    int32_t labels[4];
    double kernel[16], number = 7;
    int64_t whole = 7;
    size_t length = 7;
    char text[64];
    size_t i, k;
    int same = 0;

    CHECK(scmk_abi_version() == SCMK_ABI_VERSION);
    CHECK(strchr(scmk_version(), '.') != NULL);
    CHECK(strcmp(scmk_status_name(SCMK_OK), "SCMK_OK") == 0);
    CHECK(strcmp(scmk_status_name(SCMK_E_NOT_FINITE), "SCMK_E_NOT_FINITE") == 0);
    CHECK(strcmp(scmk_status_name(12345), "SCMK_E_UNKNOWN") == 0);

    OK(scmk_create(4, 2, &model));
    OK(scmk_create(4, 2, &other));
    CHECK(model != NULL && model != other);
    identity(kernel, 4);

    /* A new model has no message, no result and nothing to fit. */
    OK(scmk_error_message(model, text, sizeof text, &length));
    CHECK(text[0] == '\0' && length == 1);
    STATUS(SCMK_E_STATE, scmk_fit(model));
    MESSAGE(model, "no kernel");
    STATUS(SCMK_E_STATE, scmk_labels(model, labels, 4));
    MESSAGE(model, "no result");
    STATUS(SCMK_E_STATE, scmk_info_int(model, "iterations", &whole));
    STATUS(SCMK_E_STATE, scmk_trace(model, &number, 1, &length));
    CHECK(whole == 7 && number == 7);
    OK(scmk_info_int(model, "memory_required", &whole));
    CHECK(whole > 0);
    OK(scmk_clear_kernels(model));

    /* A message is read in pieces of any size. */
    OK(scmk_error_message(model, NULL, 0, &length));
    CHECK(length > 1);
    memset(text, '#', sizeof text);
    OK(scmk_error_message(model, text, 5, NULL));
    CHECK(strlen(text) == 4 && text[5] == '#');
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_error_message(model, NULL, 1, NULL));

    /* NULL. */
    OK(scmk_destroy(NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_create(4, 2, NULL));
    MESSAGE(NULL, "'out'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_fit(NULL));
    MESSAGE(NULL, "'model'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_cancel(NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_add_kernel(NULL, kernel, 4, 4));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_labels(NULL, labels, 4));

    /* A destroyed handle, for every function that takes one. */
    OK(scmk_destroy(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(model));
    MESSAGE(NULL, "destroyed");
    STATUS(SCMK_E_INVALID_HANDLE, scmk_add_kernel(model, kernel, 4, 4));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_borrow_kernel(model, kernel, 4, 4));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_add_features(model, kernel, 4, 4, 4, 1, "linear"));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_clear_kernels(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_set_real(model, "alpha", 1));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_set_int(model, "seed", 1));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_set_text(model, "labels", "qr"));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_get_real(model, "alpha", &number));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_get_int(model, "seed", &whole));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_get_text(model, "labels", text, sizeof text, NULL));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_set_progress(model, NULL, NULL));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_fit(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_cancel(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_labels(model, labels, 4));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_weights(model, kernel, 16));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_embedding(model, kernel, 16));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_similarity(model, kernel, 16));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_similarity_csc(model, &length, 1, &length, kernel, 1));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_trace(model, kernel, 16, &length));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_info_real(model, "objective", &number));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_info_int(model, "iterations", &whole));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_error_message(model, text, sizeof text, NULL));

    /* Its place may be used again, the old handle stays dead. */
    OK(scmk_create(4, 2, &reused));
    CHECK(reused != model);
    STATUS(SCMK_E_INVALID_HANDLE, scmk_fit(model));
    STATUS(SCMK_E_STATE, scmk_fit(reused));
    OK(scmk_destroy(reused));

    /* Pointers that were never handles. */
    STATUS(SCMK_E_INVALID_HANDLE, scmk_fit((scmk_model *)&number));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy((scmk_model *)(void *)text));
    for (i = 0; i < sizeof(void *) * 8; i++) {
        STATUS(SCMK_E_INVALID_HANDLE, scmk_fit((scmk_model *)((uintptr_t)1 << i)));
        STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy((scmk_model *)(~((uintptr_t)1 << i))));
    }

    /* Many models, each destroyed once, no two handles alike. */
    for (i = 0; i < 1000; i++) {
        scmk_model *many[8];
        for (k = 0; k < 8; k++)
            if (scmk_create(4, 2, &many[k]) != SCMK_OK)
                same++;
        for (k = 1; k < 8; k++)
            same += many[k] == many[0];
        for (k = 0; k < 8; k++)
            if (scmk_destroy(many[k]) != SCMK_OK || scmk_destroy(many[k]) != SCMK_E_INVALID_HANDLE)
                same++;
    }
    CHECK(same == 0);

    /* The one that was left alone is well. */
    OK(scmk_set_real(other, "alpha", 2));
    OK(scmk_get_real(other, "alpha", &number));
    CHECK(number == 2);
    OK(scmk_destroy(other));
    return check_result();
}
