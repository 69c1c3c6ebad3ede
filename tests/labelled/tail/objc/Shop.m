#import <Foundation/Foundation.h>

#define LIMIT 100
static const int kRate = 2;
typedef void (^Handler)(NSString *);

typedef NS_ENUM(NSInteger, Colour) { ColourRed, ColourGreen };

@class Other;

// Sells.
@protocol Seller <NSObject>
- (void)sell:(Item *)item;
@optional
- (BOOL)isOpen;
@end

@interface Shop : Base <Seller, Named>
@property (nonatomic, copy) NSString *name;
- (instancetype)initWithName:(NSString *)name count:(int)count;
+ (Shop *)shared;
@end

@interface Shop (Extra)
- (int)size;
@end

@implementation Shop {
  int _count;
}

/// Makes one.
- (instancetype)initWithName:(NSString *)name count:(int)count {
    self = [super init];
    return self;
}

+ (Shop *)shared { return nil; }
@end

static int helper(int a) { return a; }
struct point { int x; };
int main(int argc, char **argv) {
    @autoreleasepool { }
    return 0;
}
