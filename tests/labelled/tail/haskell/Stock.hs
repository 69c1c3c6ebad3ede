{-# LANGUAGE GADTs #-}
-- | Stock keeping.
module Shop.Stock (Stock, empty) where

import qualified Data.Map as Map

-- | One item.
data Item = Item { itemName :: String, price :: !Int }
  deriving (Show, Eq)

newtype Stock = Stock (Map.Map String Item)

type Price = Int

data Colour = Red | Green

class Priced a where
  priceOf :: a -> Price
  priceOf _ = 0

instance Priced Item where
  priceOf = price

-- | Nothing in it.
empty :: Stock
empty = Stock Map.empty

insert :: Item -> Stock -> Stock
insert item (Stock m)
  | price item < 0 = Stock m
  | otherwise = Stock (Map.insert (itemName item) item m)
  where
    helper = 1

fact 0 = 1
fact n = n * fact (n - 1)

(<+>) :: Int -> Int -> Int
a <+> b = a + b

main :: IO ()
main = do
  let x = 1
  print x

type family Elem c
foreign import ccall "sin" c_sin :: Double -> Double
pattern P x = Just x
