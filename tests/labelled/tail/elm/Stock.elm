module Shop.Stock exposing (Item, total)

{-| Stock keeping. -}

import Html exposing (Html)


type alias Item =
    { name : String
    , price : Int
    }


type Colour
    = Red
    | Green Int


limit : Int
limit =
    100


{-| The sum. -}
total : List Item -> Int
total items =
    let
        add item sum =
            sum + item.price
    in
    List.foldl add 0 items


port save : String -> Cmd msg


update msg model =
    model
