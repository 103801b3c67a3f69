/* Renders the Markdown text on standard input as HTML. */

#include <stdio.h>

#include "document.h"
#include "html.h"

static char text[1 << 21];

int main(void)
{
    size_t length = fread(text, 1, sizeof text, stdin);
    hoedown_buffer *html = hoedown_buffer_new(64);
    hoedown_renderer *renderer = hoedown_html_renderer_new(0, 0);
    hoedown_document *document = hoedown_document_new(renderer, HOEDOWN_EXT_TABLES | HOEDOWN_EXT_FOOTNOTES, 16);

    hoedown_document_render(document, html, (unsigned char *)text, length);
    fwrite(html->data, 1, html->size, stdout);
    return 0;
}
