/* What assay.zig calls of assay.h, whose macros and inline functions Zig cannot call. */
#include <assay.h>

enum assay_zig_kind { ASSAY_ZIG_CALL, ASSAY_ZIG_PREPARED, ASSAY_ZIG_FRESH };

void assay_zig_variant(const char *name, int kind, uint64_t (*call)(const uint8_t *, size_t),
                       void *(*make)(const uint8_t *, size_t), uint64_t (*run)(void *), void (*drop)(void *),
                       int (*available)(void), const char *reason)
{
    static int serial;
    struct assay_variant *variant = (struct assay_variant *)calloc(1, sizeof *variant);
    if (variant == NULL) {
        abort();
    }
    variant->name = name;
    variant->file = "zig";
    variant->serial = serial++;
    variant->kind = kind == ASSAY_ZIG_CALL ? ASSAY_CALL : kind == ASSAY_ZIG_PREPARED ? ASSAY_PREPARED : ASSAY_FRESH;
    variant->call = call;
    variant->prepare = make;
    variant->run = (uint64_t (*)(const void *))run;
    variant->run_fresh = run;
    variant->release = drop;
    variant->available = available;
    variant->reason = reason;
    assay_register(variant);
}

const uint8_t *assay_zig_input(const uint8_t *data, const char *name, size_t *size)
{
    struct assay_input found = assay_input(data, name);
    *size = found.size;
    return found.data;
}

void assay_zig_reads(const uint8_t *memory, size_t bytes) { assay_reads(memory, bytes); }

__attribute__((noreturn)) void assay_zig_failed(const char *name, const char *reason)
{
    fprintf(stderr, "assay: variant \"%s\" returned error.%s\n", name, reason);
    exit(2);
}

int assay_zig_main(int argc, char **argv) { return assay_main(argc, argv); }

/* Zig's own main, where it has one, comes first. */
__attribute__((weak)) int main(int argc, char **argv) { return assay_main(argc, argv); }
