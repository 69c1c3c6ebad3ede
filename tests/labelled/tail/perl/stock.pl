package Shop::Stock;

# Keeps the stock of one shop.
use strict;
use constant LIMIT => 100;
use constant { LOW => 5, HIGH => 500 };
use parent -norequire, 'Shop::Thing';

our $VERSION = '1.02';
my %prices;

# Makes a new stock.
sub new {
    my ($class, %args) = @_;
    return bless {%args}, $class;
}

sub _count :lvalue { my $self = shift; $self->{count} }

sub with_tax($price, $rate = 0.2) {
    my $add = sub { return $_[0] * (1 + $rate) };
    return $add->($price);
}

BEGIN { print "x"; }

package Shop::Till {
    sub open { 1 }
}

sub main::run { }
1;

__END__

=head1 NAME
sub not_this { }
