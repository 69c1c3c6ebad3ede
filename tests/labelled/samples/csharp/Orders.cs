// Orders, where they are kept, and the service in front of them.
using System;
using System.Collections.Generic;
using static System.Math;
using Json = System.Text.Json.JsonSerializer;
using Key = System.Collections.Generic.KeyValuePair<string, int>;

[assembly: System.Reflection.AssemblyTitle("Orders")]

namespace Shop.Orders
{
    /// <summary>What an order can be.</summary>
    [Flags]
    public enum Status : byte { Open = 1, Paid, Sent }

    public delegate bool Filter<in T>(T order, int limit = 10);

    public record Address(string Street, string? City = null);
    public readonly record struct Money(decimal Amount, string Currency);
    internal sealed record Priced(Money Price, int Count) : Line(Price), IComparable;

    public interface IStore<T> : IDisposable where T : class
    {
        int Count { get; }
        T? Find(string id);
        IAsyncEnumerable<T> All(int from = 0);
        void Log(string text) => Console.WriteLine(text);
    }

    struct Range
    {
        public int From, To;
        public Range(int from, int to) { From = from; To = to; }
        public readonly int Length => To - From;
    }

    /// <summary>One order.</summary>
    [Serializable, Table("orders")]
    public partial class Order : Entity, IEquatable<Order>
    {
        public const int MaxLines = 100;
        private static readonly Dictionary<string, Order> Known = new();
        private readonly List<Line> _lines = new List<Line>();
        protected internal decimal total;

        public event EventHandler<Status>? Changed;

        [Required]
        public string Id { get; init; } = Guid.NewGuid().ToString();
        public Status Status { get; private set; }
        public decimal Total => Round(total, 2);
        public string Name
        {
            get { return _name ?? "none"; }
            set { _name = value.Trim(); }
        }

        static Order() { Known.Clear(); }

        public Order(string id, params Line[] lines) : base(id)
        {
            this.Id = id;
            _lines.AddRange(lines);
            Known[id] = this;
        }

        ~Order() => Release();

        public Line this[int index] => _lines[index];

        public static Order operator +(Order left, Line line)
        {
            left._lines.Add(line);
            return left;
        }

        public static explicit operator string(Order order) => order.Id;

        [Obsolete("Use Pay", error: false), Conditional("DEBUG")]
        internal virtual void Mark(Status status, [CallerMemberName] string caller = "")
        {
            var before = Status;
            Status = status;
            Changed?.Invoke(this, status);
            if (before != status && caller != "") total += 0.5m;
        }

        bool IEquatable<Order>.Equals(Order? other) => other is { Id: var id } && id == Id;

        void Release() { }

        public abstract class Visitor<TResult>
        {
            protected abstract TResult Visit(Order order);
        }
    }

    public static class Extensions
    {
        public static bool IsLarge(this Order order, ref int limit, out int count)
        {
            count = 0;
            foreach (var (key, line) in order.Lines)
            {
                if (line is null) continue;
                if (line.Price > limit || key is "stop") break;
                count++;
            }
            return count > limit;
        }

        public static IEnumerable<int> Numbers(int upTo)
        {
            for (int i = 0; i < upTo; i++)
            {
                if (i == 13) yield break;
                yield return i;
            }
        }

        internal static string Describe(object value) => value switch
        {
            null => throw new ArgumentNullException(nameof(value)),
            Order { Status: Status.Open } order when order.Total > 3 => $"open {order.Id}",
            int number and > 5 => "large",
            _ => "?",
        };
    }

    public class Service(IStore<Order> store, ILogger logger) : IService
    {
        private int retries = 3, failures;

        public async Task<Order?> PayAsync(string id, CancellationToken token = default)
        {
            var order = store.Find(id) ?? throw new KeyNotFoundException(id);
            try
            {
                var reply = await _client.PostAsync(Url(id), Json.Serialize(order), token).ConfigureAwait(false);
                await reply.Content.ReadAsStringAsync();
                order.Mark(Status.Paid);
            }
            catch (HttpRequestException problem) when (problem.StatusCode == 409)
            {
                logger.Warn($"{problem.Message}");
                failures++;
                throw;
            }
            catch (Exception)
            {
                throw new Shop.OrderException("failed");
            }
            return order;
        }

        protected async IAsyncEnumerable<Order> Open([EnumeratorCancellation] CancellationToken token)
        {
            await foreach (var order in store.All().WithCancellation(token))
            {
                yield return order;
            }
        }

        public int Run(string[] arguments)
        {
            int parsed = 0;
            while (retries-- > 0)
            {
                switch (arguments[0])
                {
                    case "all":
                    case "every":
                        break;
                    case string text when int.TryParse(text, out parsed):
                        continue;
                    default:
                        Process.Start(arguments[1], "x");
                        break;
                }
            }
            int Twice(int number) { return number * 2; }
            Func<int, int> half = number => number / 2;
            var line = new Line { Price = parsed, Count = 1 };
            (retries, failures) = (failures, retries);
            var large = store.Where(o => o.Total > 3).Select(o => o.Id).ToList<string>();
            lines[0].Count = Twice(half(2));
            using var file = File.Open("log", FileMode.Open);
            return (int)file.Length;
        }
    }
}
