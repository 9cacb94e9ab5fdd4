/* One block for every byte, all of them alive at once. */
#include <assay.h>

struct node {
    struct node *next;
    uint8_t value;
};

static uint64_t list(const uint8_t *data, size_t size)
{
    struct node *first = NULL;
    uint64_t total = 0;
    size_t i;
    for (i = 0; i < size; i++) {
        struct node *node = (struct node *)malloc(sizeof *node);
        node->value = data[i];
        node->next = first;
        first = node;
    }
    while (first != NULL) {
        struct node *next = first->next;
        total += first->value;
        free(first);
        first = next;
    }
    return total;
}

ASSAY_VARIANT("list", list)
ASSAY_MAIN()
