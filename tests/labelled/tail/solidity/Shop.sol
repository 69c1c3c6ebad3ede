// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./Base.sol";

uint256 constant LIMIT = 100;

error OutOfStock(uint256 left);

struct Item { string name; uint256 price; }

enum Colour { Red, Green }

type Price is uint256;

interface Seller {
    function sell(uint256 id) external returns (bool);
}

library Maths {
    function twice(uint256 x) internal pure returns (uint256) { return x * 2; }
}

/// @title Shop
abstract contract Shop is Base, Seller {
    uint256 public constant RATE = 2;
    mapping(address => uint256) private balances;
    event Sold(address indexed who, uint256 id);

    modifier onlyOwner() { _; }
    constructor(address owner) Base(owner) { }
    receive() external payable {}
    fallback() external {}

    /// Sells.
    function sell(uint256 id) external override onlyOwner returns (bool) {
        return true;
    }
    function _hidden() private view virtual;
}

function helper(uint256 a) pure returns (uint256) { return a; }
