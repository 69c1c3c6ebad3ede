<?php

declare(strict_types=1);

namespace App\Checkout;

use App\Models\{Cart, Order as PlacedOrder};
use App\Support\Clock;
use Psr\Log\LoggerInterface as Logger;
use function App\Support\format_money;
use const App\Support\DEFAULT_CURRENCY;

require_once __DIR__ . '/bootstrap.php';

const MAX_LINES = 50;
define('CHECKOUT_VERSION', '2.1');

/**
 * What every payment method can do.
 */
interface PaymentMethod extends \JsonSerializable
{
    public const TIMEOUT = 30;

    public function charge(Cart $cart, int $cents): Receipt;

    public static function supports(string $currency): bool;
}

enum Status: string implements HasLabel
{
    case Open = 'open';
    case Paid = 'paid';

    const FALLBACK = self::Open;

    public function label(): string
    {
        return match ($this) {
            self::Open => 'Open',
            self::Paid => 'Paid',
        };
    }

    public static function parse(?string $text): self
    {
        return self::tryFrom($text ?? '') ?? self::FALLBACK;
    }
}

trait RemembersEvents
{
    private array $events = [];

    protected function remember(object $event, mixed ...$more): static
    {
        $this->events[] = $event;
        array_push($this->events, ...$more);
        return $this;
    }

    public function releaseEvents(): array
    {
        [$events, $this->events] = [$this->events, []];
        return $events;
    }
}

/** Raised when a card is refused. */
final class CardRefused extends \RuntimeException
{
    public function __construct(private readonly string $reason, public int $attempts = 1)
    {
        parent::__construct("refused: {$reason}");
    }
}

#[Service(id: 'checkout'), Autowired]
abstract class Checkout implements PaymentMethod, \Countable
{
    use RemembersEvents;

    private const RETRIES = 3;
    public static int $processed = 0;
    protected ?Clock $clock = null;

    public function __construct(
        protected readonly Logger $logger,
        private GatewayPool $gateways,
        string|int $region = 'eu',
    ) {
        $this->region = $region;
        $this->clock ??= new Clock();
    }

    abstract protected function gateway(string $name): Gateway;

    /**
     * Places an order.
     *
     * @throws CardRefused
     */
    #[Transactional]
    public function place(Cart $cart, array &$warnings = [], bool $express = false): PlacedOrder
    {
        $total = 0;
        foreach ($cart->lines() as $position => $line) {
            if ($line->quantity < 1) {
                $warnings[] = "line $position is empty";
                continue;
            } elseif ($line->price === null) {
                throw new \DomainException('no price');
            }
            $total += $line->price * $line->quantity;
        }
        $order = new PlacedOrder($cart, $total);
        $order->status = Status::Open;
        self::$processed++;
        $this->remember(new OrderPlaced($order));
        $this->logger?->info('placed', ['total' => format_money($total, DEFAULT_CURRENCY)]);

        return $order;
    }

    public function charge(Cart $cart, int $cents): Receipt
    {
        $attempt = 0;
        do {
            try {
                $receipt = $this->gateways->pick($cart->country)->charge($cents);
                break;
            } catch (Timeout | ConnectionLost $error) {
                $this->logger->warning($error->getMessage());
                if (++$attempt >= self::RETRIES || !$this->shouldRetry($error)) {
                    throw $error;
                }
            } finally {
                $this->last = $attempt;
            }
        } while (true);

        return $receipt;
    }

    public static function supports(string $currency): bool
    {
        static $known = null;
        $known = $known ?? array_flip(['EUR', 'USD']);
        return isset($known[$currency]) && $currency !== '';
    }

    /** @return iterable<int, string> */
    public function export(iterable $orders): \Generator
    {
        for ($i = 0; $i < 3; $i++) {
            yield $i => (string) $i;
        }
        yield from $this->rows($orders);
    }

    private function rows(iterable $orders): iterable
    {
        $prefix = 'order';
        $name = fn (PlacedOrder $order): string => "{$prefix}-{$order->id}";
        $map = function ($order) use ($name, &$count) {
            $count++;
            return $name($order);
        };
        while ($order = next($orders)) {
            yield $map($order);
        }
    }

    protected function shouldRetry(\Throwable $error): bool
    {
        switch (true) {
            case $error instanceof Timeout:
                return true;
            case $error instanceof ConnectionLost:
                $delay = $this->clock->now()->diff($this->started);
                return $delay > 3 ? false : true;
            default:
                return false;
        }
    }

    public function count(): int
    {
        global $config;
        unset($this->cache['count']);
        ['lines' => $lines, 'extra' => $extra] = $config;
        return \count($lines) + (int) $extra;
    }

    public function __get(string $name)
    {
        return $this->$name;
    }
}

function total_of(array $lines, callable $price = null, float $rate = 1.0): float
{
    $sum = array_sum(array_map($price, $lines));
    $copy = $sum;
    return $copy * $rate;
}

function &registry(): array
{
    static $all = [];
    return $all;
}

if (!function_exists('checkout')) {
    function checkout(?string $name = null): Checkout
    {
        $factory = new class (DEFAULT_CURRENCY) extends Factory {
            public function make(): Checkout
            {
                return Checkout::build($this->currency);
            }
        };
        return $factory->make();
    }
}

$app = checkout($_GET['shop'] ?? null);
echo $app->count();

class Coupon
{
    public function __invoke(Cart $cart): int|float
    {
        return $cart->discount ?: static::none();
    }

    final public static function none(): int { return 0; }

    public function apply(Cart ...$carts): void
    {
        foreach ($carts as $cart) {
            $cart->lines->add($this);
        }
        array_walk($carts, fn ($one) => throw new \LogicException($one));
    }
}

readonly class Price extends Money
{
    const ZERO = 0, ONE = 1;

    public function format(string $pattern = "%d", ?int $digits = null): string
    {
        return sprintf($pattern, $this->cents);
    }
}

namespace\boot();
