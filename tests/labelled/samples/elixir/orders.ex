defmodule Shop.Orders.Error do
  defexception [:message, code: 400]

  @impl true
  def exception(options) do
    %__MODULE__{message: Keyword.get(options, :message, "bad order")}
  end
end

defprotocol Shop.Priced do
  @doc "What it costs, in cents."
  @spec price(t) :: non_neg_integer
  def price(thing)

  def currency(thing)
end

defmodule Shop.Orders do
  @moduledoc """
  Takes orders and keeps them.
  """

  use GenServer, restart: :transient
  import Ecto.Query, only: [from: 2]
  alias Shop.{Cart, Repo}
  alias Shop.Orders.Error, as: OrderError
  alias Phoenix.PubSub
  require Logger

  @timeout 5_000
  @topics ["orders", "stock"]
  @type id :: pos_integer
  @type result :: {:ok, Cart.t()} | {:error, term}

  defstruct [:id, lines: [], status: :open]

  @callback handle(order :: t(), keyword) :: :ok

  defguard is_id(value) when is_integer(value) and value > 0

  # Starting and stopping.

  @doc """
  Starts the process that keeps orders.
  """
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options \\ []) do
    name = Keyword.get(options, :name, __MODULE__)
    GenServer.start_link(__MODULE__, options, name: name)
  end

  @doc "Finds an order."
  @spec fetch(id, atom) :: result
  def fetch(id, server \\ __MODULE__) when is_id(id) do
    GenServer.call(server, {:fetch, id}, @timeout)
  end

  def fetch!(id) do
    case fetch(id) do
      {:ok, order} -> order
      {:error, :not_found} -> raise OrderError, message: "no order #{id}"
      {:error, reason} -> raise(reason)
    end
  end

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    state = %{orders: %{}, limit: options[:limit] || 100}
    {:ok, state, {:continue, :load}}
  end

  @impl true
  def handle_call({:fetch, id}, _from, %{orders: orders} = state) do
    reply =
      case Map.fetch(orders, id) do
        {:ok, order} -> {:ok, order}
        :error -> {:error, :not_found}
      end

    {:reply, reply, state}
  end

  def handle_call(:count, _from, state), do: {:reply, map_size(state.orders), state}

  @impl GenServer
  def handle_info({:DOWN, _ref, :process, pid, _}, state) do
    Logger.warning("lost #{inspect(pid)}")
    {:noreply, state}
  end

  @spec place(Cart.t(), keyword) :: result
  def place(%Cart{lines: [_ | _] = lines} = cart, opts \\ []) do
    with {:ok, checked} <- check(lines),
         {:ok, order} <- Repo.insert(build(cart, checked)),
         :ok <- announce(order, opts) do
      {:ok, order}
    else
      {:error, reason} = error ->
        Logger.error("not placed: #{reason}")
        error

      _other ->
        throw(:unexpected)
    end
  end

  def total(lines) do
    lines
    |> Enum.map(&line_total/1)
    |> Enum.reject(&is_nil/1)
    |> Enum.sum()
    |> round()
  end

  def recent(days, limit \\ 10) do
    since = DateTime.add(DateTime.utc_now(), -days, :day)
    query = from(o in __MODULE__, where: o.inserted_at > ^since, limit: ^limit)
    Repo.all(query)
  end

  def export(orders, path) do
    file = File.open!(path, [:write])

    try do
      for order <- orders, order.status != :open, into: [] do
        IO.puts(file, line(order))
      end
    rescue
      error in [File.Error, ArgumentError] ->
        reraise error, __STACKTRACE__
    catch
      :exit, reason -> {:error, reason}
    after
      File.close(file)
    end
  end

  def wait(ref) do
    receive do
      {^ref, {:done, result}} -> result
      {:stop, _} -> exit(:stopped)
    after
      @timeout -> :timeout
    end
  end

  def shipping(weight, express?) do
    cond do
      weight > 30 -> 2_000
      express? && weight > 5 or weight == 0 -> 900
      true -> 300
    end
  end

  defdelegate size(cart), to: Cart, as: :count

  defmacro topics do
    quote do: unquote(@topics)
  end

  defmacrop debug(text) do
    quote do
      Logger.debug(unquote(text))
    end
  end

  defp check([]), do: {:error, :empty}
  defp check([line | rest]), do: if(valid?(line), do: check(rest), else: {:error, line})

  defp valid?(%{quantity: quantity}) when quantity > 0, do: true
  defp valid?(_line), do: false

  defp build(cart, lines) do
    %__MODULE__{id: cart.id, lines: lines}
    |> Map.put(:status, :placed)
  end

  defp announce(order, opts) do
    topic = Keyword.get(opts, :topic, hd(@topics))
    unless opts[:silent], do: PubSub.broadcast(Shop.PubSub, topic, {:placed, order})
    :ok
  end

  defp line_total(%{quantity: q, price: p}), do: q * p

  defp line(order) do
    copy = order
    [first | _] = order.lines
    handler = fn {key, value}, acc -> acc <> "#{key}=#{value}" end
    Enum.reduce(Map.from_struct(first), "", handler) <> to_string(copy.id)
  end

  defmodule Line do
    @enforce_keys [:sku]
    defstruct sku: nil, quantity: 1, price: 0

    def new(sku, quantity \\ 1) when quantity > 0, do: %__MODULE__{sku: sku, quantity: quantity}

    def left <~> right do
      left.sku == right.sku
    end
  end

  defimpl Shop.Priced do
    def price(%{lines: lines}), do: Shop.Orders.total(lines)
    def currency(_), do: "EUR"
  end
end

defimpl Shop.Priced, for: Shop.Cart do
  def price(cart), do: cart.total

  def currency(_cart) do
    Application.get_env(:shop, :currency)
  end
end
