# frozen_string_literal: true

require "json"
require "net/http"
require_relative "lib/ledger"

# Limits of the whole warehouse.
MAX_ITEMS = 500
RATES = { standard: 4.5, express: 9.0 }.freeze

module Warehouse
  DEFAULT_REGION = :north

  # Raised when a shelf has not enough of a thing.
  class OutOfStock < StandardError
    attr_reader :sku

    def initialize(sku, wanted)
      @sku = sku
      super("#{sku}: #{wanted} wanted")
    end
  end

  Money = Struct.new(:amount, :currency)

  # Keeps what is on the shelves.
  class Inventory
    include Enumerable
    extend Forwardable

    attr_accessor :region, :capacity
    def_delegators :@shelves, :size, :empty?

    # Builds an inventory from a file of JSON.
    def self.load(path, region: DEFAULT_REGION)
      data = JSON.parse(File.read(path))
      inventory = new(region: region)
      data.each { |sku, count| inventory.add(sku, count) }
      inventory
    end

    class << self
      def empty
        @empty ||= new
      end

      private

      def registry
        @registry = {}
      end
    end

    def initialize(region: DEFAULT_REGION, capacity: 100, **options)
      @region = region
      @capacity = capacity
      @shelves = Hash.new(0)
      @log = []
      configure(options) unless options.empty?
    end

    # Puts some of a thing on its shelf.
    def add(sku, count = 1)
      raise ArgumentError, "count must be positive" unless count.positive?
      return if full? && !overflow_allowed?

      @shelves[sku] += count
      @log << [:add, sku, count]
      self
    end

    def take(sku, count)
      left = @shelves.fetch(sku) { raise KeyError, sku }
      if left < count
        raise OutOfStock.new(sku, count)
      elsif left == count
        @shelves.delete(sku)
      else
        @shelves[sku] = left - count
      end
      record :take, sku, count
    end

    def each
      return to_enum(:each) unless block_given?

      @shelves.each do |sku, count|
        next if count.zero?

        yield sku, count
      end
    end

    def total = @shelves.values.sum

    def full?
      total >= capacity
    end

    def [](sku)
      @shelves[sku]
    end

    def region=(name)
      @region = name.to_sym
    end

    def ==(other)
      other.is_a?(Inventory) && other.region == region
    end

    protected

    def merge!(other, *more)
      [other, *more].each do |one|
        one.each { |sku, count| add(sku, count) }
      end
    end

    private

    def record(action, sku, count)
      @log.push([action, sku, count])
      $stderr.puts("#{action} #{sku}") if ENV["DEBUG"]
    end

    def overflow_allowed?
      region != :south and RATES.key?(:express)
    end

    def configure(options)
      options.each_pair do |name, value|
        case name
        when :log, :journal then @log = value
        when :clock
          @clock = value || Time
        else
          raise ArgumentError, "unknown option #{name}"
        end
      end
    end

    def self.private_helper; end
  end

  # Talks to the supplier.
  class Supplier
    RETRIES = 3
    private_constant :RETRIES

    def initialize(url)
      @uri = URI(url)
      @http = Net::HTTP.new(@uri.host, @uri.port)
    end

    def order(sku, count:, urgent: false, &block)
      attempts = 0
      begin
        attempts += 1
        response = @http.post("/orders", JSON.generate(sku: sku, count: count))
      rescue Timeout::Error, SocketError => error
        retry if attempts < RETRIES
        raise Ledger::Failure.new(error.message)
      ensure
        Ledger.note(sku)
      end
      block&.call(response)
      price = urgent ? RATES[:express] : RATES[:standard]
      parse(response, price)
    end

    def wait_for(states)
      until states.empty?
        state, *states = states
        break if state == :ready
      end
      while @busy do sleep 1 end
    end

    def describe
      name, port = @uri.host, @uri.port
      label = name
      <<~TEXT
        Supplier #{label} on #{port}
      TEXT
    end

    def parse(response, price)
      body = JSON.parse(response.body, symbolize_names: true)
      handler = ->(item) { return item[:total] * price }
      body[:items].map(&handler)
    end
    private :parse

    private def credentials
      ENV.fetch("TOKEN") { throw :unauthorized }
    end

    public

    def close
      @http&.finish
      @http = nil
    end
  end

  module Reports
    module_function

    def summary(inventory, title = "Stock", width: 72)
      lines = []
      for sku, count in inventory
        lines << format("%s %d", sku, count)
      end
      lines.sort!
      lines.unshift(title.center(width)).join("\n")
    end
  end
end

class Warehouse::Inventory::Snapshot < Warehouse::Inventory
  alias_method :freeze_now, :freeze

  def restore
    super
  end
end

def main(argv)
  inventory = Warehouse::Inventory.load(argv.first || "stock.json")
  puts Warehouse::Reports.summary(inventory)
rescue Errno::ENOENT => e
  warn e.message
  exit 1
end

main(ARGV) if $PROGRAM_NAME == __FILE__
