;; Stock keeping.
(ns shop.stock
  (:require [clojure.string :as str]))

(def limit 100)
(def ^:private cache (atom {}))

(defn with-tax
  "Price with tax."
  ([price] (with-tax price 0.2))
  ([price rate] (* price (+ 1 rate))))

(defn- hidden [x] x)
(defmacro twice [e] `(do ~e ~e))
(defrecord Item [name price])
(deftype Till [count])
(defprotocol Seller
  (sell [this item])
  (size [this]))
(defmulti area :shape)
(defmethod area :circle [c] 1)
(defonce state {})
(extend-type Item Seller (sell [this item] 1))
(comment (foo))
