%% Stock keeping.
-module(stock).
-behaviour(gen_server).
-export([start/0, total/1]).

-define(LIMIT, 100).
-define(TWICE(X), X * 2).
-record(item, {name, price = 0}).
-type price() :: integer().
-opaque till() :: map().

-spec start() -> ok.
start() ->
    ok.

%% The sum.
total([]) -> 0;
total([#item{price = P} | Rest]) ->
    P + total(Rest).

total(_, _) -> 1.

helper(X) when X > 0 -> fun(Y) -> Y end.
