<?php

namespace Shop\Io;

use Shop\Net\Http;

class Loader extends \ArrayObject implements \Countable
{
    protected static $pool;

    private $open = [];

    /**
     * Opens all.
     *
     * @throws TransportFailed|\RuntimeException
     * @return array<string>
     */
    public function open($iterable, array $config = [])
    {
        foreach ((array) $iterable as $name => $item) {
            if (!$item instanceof \Traversable || $item instanceof Http) {
                throw new \InvalidArgumentException("no list: $name");
            }
            $this->open[$name] = Http::get($item)->then(
                function ($value) use ($name) {
                    $this->step($name);
                }
            );
        }

        return \array_keys($this->open);
    }

    public static function pool()
    {
        if (self::$pool !== null) {
            return self::$pool;
        }
        list($host, $port) = explode(':', getenv('POOL'));
        self::$pool = new Pool($host, $port);
        self::$pool->connect();

        return self::$pool;
    }

    private function step($name): void
    {
        unset($this->open[$name]);
    }
}
