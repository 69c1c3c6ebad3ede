//! Stock keeping.
const std = @import("std");

pub const limit: usize = 100;
var count: u32 = 0;

/// One item.
pub const Item = struct {
    name: []const u8,
    price: u32,

    pub fn init(name: []const u8) Item {
        return .{ .name = name, .price = 0 };
    }
    fn hidden(self: *Item) void { _ = self; }
};

const Colour = enum { red, green };
const Value = union(enum) { int: i64, none };
const Err = error{ OutOfStock, Closed };
const Alias = std.ArrayList(u8);

pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        pub fn len(self: @This()) usize { return self.items.len; }
    };
}

export fn add(a: i32, b: i32) i32 { return a + b; }
extern fn puts(s: [*:0]const u8) c_int;

test "adds" {
    try std.testing.expect(add(1, 2) == 3);
}
