/* Runs the Lua script that stands on standard input.

   With the argument `bare` there are no libraries, only a function `print` of
   our own, which leaves out most of the start-up; with `strings` there is the
   library of strings as well. */

#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static int print(lua_State *lua)
{
    printf("%s\n", lua_tostring(lua, 1));
    return 0;
}

int main(int argc, char **argv)
{
    lua_State *lua = luaL_newstate();
    const char *libraries = argc > 1 ? argv[1] : "all";
    int status;

    if (lua == NULL)
        return 2;
    if (strcmp(libraries, "all") == 0)
        luaL_openlibs(lua);
    else
        lua_register(lua, "print", print);
    if (strcmp(libraries, "strings") == 0) {
        luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
        lua_pop(lua, 1);
    }
    status = luaL_loadfile(lua, NULL);
    if (status == LUA_OK)
        status = lua_pcall(lua, 0, 0, 0);
    if (status != LUA_OK)
        fprintf(stderr, "lua: %s\n", lua_tostring(lua, -1));
    lua_close(lua);
    return status == LUA_OK ? 0 : 1;
}
