/* Prints the kinds of the events of the YAML text on standard input. */

#include <stdio.h>

#include "yaml.h"

int main(void)
{
    yaml_parser_t parser;
    yaml_event_t event;
    int kind = YAML_NO_EVENT;

    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, stdin);
    while (kind != YAML_STREAM_END_EVENT && yaml_parser_parse(&parser, &event)) {
        printf("%d\n", kind = event.type);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return kind != YAML_STREAM_END_EVENT;
}
