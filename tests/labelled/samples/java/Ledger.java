package bank.ledger;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Accounts and what happens to them.
 */
public final class Ledger implements AutoCloseable {
    public static final int LIMIT = 1_000;
    private static final Map<String, BigDecimal> RATES = new ConcurrentHashMap<>();
    static final String EMPTY = "", UNKNOWN = "?";

    private final List<Account> accounts = new ArrayList<>();
    private volatile boolean closed;
    protected Logger log;

    static {
        RATES.put("EUR", BigDecimal.ONE);
    }

    public Ledger(Logger log) {
        this.log = requireNonNull(log, "log");
    }

    Ledger() {
        this(new Logger());
    }

    /** Opens an account. */
    public Account open(final String owner, BigDecimal... deposits) throws LedgerException {
        if (closed || accounts.size() >= LIMIT) {
            throw new LedgerException("no more accounts");
        }
        Account account = new Account(owner);
        for (BigDecimal deposit : deposits) {
            account.balance = account.balance.add(deposit);
        }
        accounts.add(account);
        return account;
    }

    @Override
    public synchronized void close() throws IOException {
        try (var out = log.open(); Writer writer = out.writer()) {
            writer.write(EMPTY);
        } catch (IllegalStateException | NullPointerException problem) {
            log.warn(problem.getMessage());
        } finally {
            closed = true;
        }
    }

    public Optional<Account> find(Predicate<? super Account> wanted) {
        return accounts.stream().filter(wanted).findFirst();
    }

    private static BigDecimal convert(BigDecimal amount, String from, String to) {
        BigDecimal rate = RATES.get(to);
        return rate == null ? amount : amount.multiply(rate);
    }

    public <T extends Comparable<T>> List<T> sorted(Function<Account, T> key) {
        List<T> keys = new LinkedList<>();
        accounts.forEach(account -> {
            keys.add(key.apply(account));
        });
        Collections.sort(keys);
        return keys;
    }

    public int[] histogram(int buckets) {
        int[] counts = new int[buckets];
        int index = 0;
        while (index < accounts.size()) {
            Account account = accounts.get(index++);
            if (account == null) continue;
            counts[account.hashCode() % buckets] += 1;
            if (index > LIMIT) break;
        }
        return counts;
    }

    String describe(Object thing) {
        return switch (thing) {
            case Account a when a.isOpen() -> a.owner();
            case Transfer(String from, String to, var amount) -> from + to;
            default -> UNKNOWN;
        };
    }

    static class Account implements Comparable<Account> {
        private final String owner;
        BigDecimal balance = BigDecimal.ZERO;

        Account(String owner) {
            super();
            this.owner = owner;
        }

        String owner() {
            return owner;
        }

        boolean isOpen() { return !owner.isEmpty() && balance != null; }

        @Override
        public int compareTo(Account other) {
            return owner.compareTo(other.owner);
        }
    }

    class Cursor {
        int position;

        void advance() {
            position++;
            Ledger.this.log.debug("moved");
        }
    }

    /** Money from one to another. */
    public record Transfer(String from, String to, @NonNull BigDecimal amount) {
        public Transfer {
            if (amount.signum() < 0) throw new IllegalArgumentException("negative");
        }

        static Transfer of(String text) {
            String[] parts = text.split(",");
            return new Transfer(parts[0], parts[1], new BigDecimal(parts[2]));
        }
    }

    enum Kind implements Described {
        DEBIT("-") {
            @Override
            public int sign() {
                return -1;
            }
        },
        CREDIT("+");

        private final String symbol;

        Kind(String symbol) {
            this.symbol = symbol;
        }

        public int sign() {
            return 1;
        }

        public String text() {
            return symbol;
        }
    }

    private final Runnable sweeper = new Runnable() {
        @Override
        public void run() {
            accounts.removeIf(account -> !account.isOpen());
        }
    };
}

interface Described extends Named, Comparable<Described> {
    String PREFIX = "kind ";

    String text();

    default String described() {
        return PREFIX + text();
    }

    static Described none() {
        return () -> "";
    }

    private void check() {}
}

@FunctionalInterface
interface Rule {
    boolean allows(Ledger.Transfer transfer) throws LedgerException;
}

@Retention(RetentionPolicy.RUNTIME)
@interface Audited {
    String value() default "";

    int level() default 1;
}

class LedgerException extends Exception {
    private static final long serialVersionUID = 1L;

    LedgerException(String message) {
        super(message);
    }
}

abstract sealed class Job permits Nightly {
    protected abstract void run(Ledger ledger) throws Exception;

    @Deprecated(since = "2")
    @SuppressWarnings("unused")
    protected final void repeat(Ledger ledger, int times) {
        do {
            try {
                run(ledger);
            } catch (RuntimeException problem) {
                throw problem;
            } catch (Exception problem) {
                throw new IllegalStateException(problem);
            }
        } while (--times > 0);
    }
}

non-sealed class Nightly extends Job {
    @Override
    protected void run(Ledger ledger) {
        for (int i = 0, n = 3; i < n; i++) {
            Ledger.Transfer transfer = Ledger.Transfer.of("a,b," + i);
            System.out.println(transfer);
        }
    }
}

/** Counts what was opened; the blank line parts nothing. */

final class Opened {
    int count;
}
