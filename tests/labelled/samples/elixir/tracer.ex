defmodule Shop.Tracer do
  @moduledoc "Follows what a shop does."
  @behaviour Shop.Tool

  @type t :: %__MODULE__{}
  @typep entry(kind) :: {kind, pid}
  @opaque handle :: reference

  @doc "Called for every event."
  @callback trace(event :: term, keyword) :: :ok | {:error, term}

  defstruct [:table, modes: []]

  @spec find(atom) :: :error | {:ok, entry(atom)}
  def find(name) do
    if found = lookup(name) do
      {:ok, found}
    else
      :error
    end
  end

  def load(path) do
    with {:ok, %{rows: [first | rest]}} <- read(path),
         size = length(rest),
         kind when is_atom(kind) <- kind_of(first) do
      {kind, size}
    end
  end

  def handle_call({:on, ref} = message, {caller, _}, %{devices: devices} = state) do
    case Map.fetch(devices, ref) do
      {:ok, %{pid: pid} = device} when is_pid(pid) ->
        "prefix-" <> tail = device.name
        {:reply, {caller, tail, message}, state}

      :error ->
        {:reply, nil, state}
    end
  end

  def weigh(order, heavy?) do
    cond do
      heavy? and order.weight > 5 -> 2
      true -> 1
    end
  end

  defp release(pid) do
    StringIO.close(pid)
  rescue
    ArgumentError -> nil
  after
    Process.flag(:done, true)
  end
end
