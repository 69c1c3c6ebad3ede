# Stock keeping for a small shop.
library(methods)

LIMIT <- 100L
.cache <- new.env()

#' Price with tax.
#' @param price a number
with_tax <- function(price, rate = 0.2) {
  inner <- function(x) x * (1 + rate)
  inner(price)
}

total = function(items, ...) {
  sum(vapply(items, function(i) i$price, numeric(1)))
}

print.receipt <- function(x, ...) invisible(x)

"%+%" <- function(a, b) paste0(a, b)

assign_me <<- function() NULL

setClass("Account", representation(owner = "character"))
setGeneric("deposit", function(account, amount) standardGeneric("deposit"))
setMethod("deposit", "Account", function(account, amount) account)
Stack <- R6Class("Stack",
  public = list(
    push = function(x) { invisible(self) },
    pop = function() NULL
  )
)
square <- \(x) x^2
