"""
Stock keeping.
"""
module Stock

using Printf
import Base: show

const LIMIT = 100
abstract type Thing end

"One item."
struct Item{T<:Real} <: Thing
    name::String
    price::T
end

mutable struct Till
    count::Int
    Till() = new(0)
end

@enum Colour RED GREEN
primitive type Byte 8 end

# Price with tax.
function with_tax(item::Item, rate=0.2; verbose=false)::Float64
    inner(x) = x * 2
    return item.price * (1 + rate)
end

double(x) = 2x
Base.show(io::IO, item::Item) = print(io, item.name)
function Base.length(t::Till)
    t.count
end
macro twice(e)
    :($e; $e)
end
f(x::T) where {T} = x
function g(x::T) where {T<:Int}
    x
end
const Alias = Vector{Int}
square = x -> x^2
@inline fast(x) = x
end
