/* Evaluates the JavaScript on standard input, with one function of our own:
   print(value). */

#include <stdio.h>

#include "quickjs.h"

static char script[1 << 16];

static JSValue print(JSContext *context, JSValueConst receiver, int count, JSValueConst *values)
{
    const char *text;

    (void)receiver;
    if (count < 1 || (text = JS_ToCString(context, values[0])) == NULL)
        return JS_EXCEPTION;
    printf("%s\n", text);
    JS_FreeCString(context, text);
    return JS_UNDEFINED;
}

static int evaluate(JSContext *context, size_t length)
{
    JSValue global = JS_GetGlobalObject(context);
    JSValue result;
    int failed;

    JS_SetPropertyStr(context, global, "print", JS_NewCFunction(context, print, "print", 1));
    JS_FreeValue(context, global);
    result = JS_Eval(context, script, length, "stdin", JS_EVAL_TYPE_GLOBAL);
    failed = JS_IsException(result);
    JS_FreeValue(context, result);
    return failed;
}

int main(void)
{
    size_t length = fread(script, 1, sizeof script - 1, stdin);
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContextRaw(runtime);
    int failed;

    script[length] = '\0';
    JS_AddIntrinsicBaseObjects(context);
    JS_AddIntrinsicEval(context);
    failed = evaluate(context, length);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    if (failed)
        fprintf(stderr, "quickjs: the script threw an exception\n");
    return failed;
}
