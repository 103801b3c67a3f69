/* Parses the XML document on standard input and prints, for each element at
   its end, its name and its text.

   The text handler keeps the piece it is given last, though expat hands over
   a text in several pieces, around an entity or a line break above all: of
   `Fish &amp; Chips` only ` Chips` is left. */

#include <stdio.h>
#include <string.h>

#include "expat.h"

static char document[1 << 14];
static char text[1024];

static void start_element(void *unused, const XML_Char *name, const XML_Char **attributes)
{
    (void)unused;
    (void)name;
    (void)attributes;
    text[0] = '\0';
}

static void end_element(void *unused, const XML_Char *name)
{
    (void)unused;
    printf("%s: %s\n", name, text);
    text[0] = '\0';
}

static void character_data(void *unused, const XML_Char *piece, int length)
{
    (void)unused;
    if (length >= (int)sizeof text)
        length = sizeof text - 1;
    memcpy(text, piece, length);
    text[length] = '\0';
}

int main(void)
{
    int length = fread(document, 1, sizeof document, stdin);
    XML_Parser parser = XML_ParserCreate(NULL);
    int failed;

    XML_SetHashSalt(parser, 1); /* else it depends on the time */
    XML_SetElementHandler(parser, start_element, end_element);
    XML_SetCharacterDataHandler(parser, character_data);
    failed = XML_Parse(parser, document, length, 1) == XML_STATUS_ERROR;
    if (failed)
        fprintf(stderr, "expat: %s\n", XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
    return failed;
}
