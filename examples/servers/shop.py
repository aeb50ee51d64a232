"""A small shop as an MCP server: customers, products, stock and orders, made from a seed. Something to train on.

    python examples/servers/shop.py                # stdio
    python examples/servers/shop.py --http 8000    # streamable HTTP at http://127.0.0.1:8000/mcp

Every MCP session has a shop of its own, in memory: what one session changes, no other sees. (A client that speaks the
stateless protocol of 2026-07-28 has no session; all such clients share one shop.)
"""

import argparse
import random
import sqlite3
from functools import lru_cache
from itertools import product
from typing import Annotated, Any, Literal, get_args

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

FIRST = "Ada Ben Carla Dev Elif Finn Gwen Hugo Ines Jonas Kira Leo Mara Nils Olga Pavel Quinn Rosa Sven Tara".split()
LAST = "Abbott Brandt Costa Duval Eriksen Fischer Garcia Holm Ivanov Jansen Keller Lindt Moreau Novak Okafor".split()
CITIES = "Lyon Porto Bergen Krakow Turin Ghent Malmo Graz Cork Bilbao Tartu Split".split()
STYLES = "Oak Steel Linen Amber Cedar Slate Copper Velvet Ivory Cobalt Walnut Marble".split()
KINDS = {
    "furniture": ["Chair", "Table", "Shelf"],
    "kitchen": ["Kettle", "Teapot", "Skillet"],
    "lighting": ["Lamp", "Lantern", "Sconce"],
    "textiles": ["Rug", "Blanket", "Curtain"],
    "garden": ["Planter", "Bench", "Trellis"],
}
SUPPLIERS = "Nordwerk Fabrico Halden Lumina Tessuto Verdant".split()

Category = Literal["furniture", "kitchen", "lighting", "textiles", "garden"]
Status = Literal["open", "paid", "packed", "shipped", "delivered"]
STATUSES: tuple[Status, ...] = get_args(Status)
Row = dict[str, Any]

CustomerId = Annotated[str, Field(description="Customer id, such as C-1042")]
Sku = Annotated[str, Field(description="Product number, such as SKU-318")]
OrderId = Annotated[str, Field(description="Order id, such as O-2107")]
Limit = Annotated[int, Field(description="Most rows to return", ge=1, le=5)]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

server = MCPServer("shop", version="1.0.0", log_level="WARNING")
seed = 0


@lru_cache(maxsize=1024)
def shop(session: str) -> sqlite3.Connection:
    """The tables of one MCP session, filled from the seed."""
    rng = random.Random(seed)
    names = rng.sample([f"{first} {last}" for first, last in product(FIRST, LAST)], 60)
    wares = rng.sample([(f"{style} {kind}", kinds) for kinds in KINDS for style in STYLES for kind in KINDS[kinds]], 60)
    tiers, cents = ["basic", "silver", "gold"], [0.25, 0.45, 0.75, 0.95]
    customers = [
        (f"C-{1001 + n}", name, rng.choice(CITIES), rng.choice(tiers), rng.randint(2011, 2025))
        for n, name in enumerate(names)
    ]
    products = [
        (f"SKU-{301 + n}", name, category, rng.randint(5, 240) + rng.choice(cents), rng.choice(SUPPLIERS))
        for n, (name, category) in enumerate(wares)
    ]
    stock = [(row[0], rng.randint(0, 90), f"{rng.choice('ABCDEFGH')}-{rng.randint(1, 40)}") for row in products]
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 10) for day in range(1, 29)]
    orders = [
        (
            f"O-{2001 + n}",
            rng.choice(customers)[0],
            rng.choice(products)[0],
            rng.randint(1, 9),
            status,
            rng.choice(days),
        )
        for n, status in enumerate(rng.choices(STATUSES, k=150))
    ]
    data = sqlite3.connect(":memory:", check_same_thread=False)
    data.row_factory = sqlite3.Row
    for table, columns, content in (
        ("customers", "customer_id, name, city, tier, since", customers),
        ("products", "sku, name, category, price, supplier", products),
        ("stock", "sku, units, shelf", stock),
        ("orders", "order_id, customer_id, sku, quantity, status, ordered", orders),
    ):
        data.execute(f"CREATE TABLE {table} ({columns})")
        data.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(content[0]))})", content)
    return data


def rows(ctx: Context, query: str, *values: object) -> list[Row]:
    session = (ctx.headers or {}).get("mcp-session-id", "")
    return [dict(row) for row in shop(session).execute(query, values)]


def one(ctx: Context, what: str, query: str, key: str) -> Row:
    found = rows(ctx, query, key)
    if not found:
        raise ToolError(f"No {what} {key}")
    return found[0]


@server.tool(title="List customers", annotations=READS)
def list_customers(
    ctx: Context, city: Annotated[str, Field(description="City the customers live in")], limit: Limit = 5
) -> list[Row]:
    """List the customers who live in a city."""
    return rows(ctx, "SELECT customer_id, name FROM customers WHERE city = ? COLLATE NOCASE LIMIT ?", city, limit)


@server.tool(title="Get customer", annotations=READS)
def get_customer(ctx: Context, customer_id: CustomerId) -> Row:
    """Look up a customer: name, city, loyalty tier and the year they joined."""
    return one(ctx, "customer", "SELECT * FROM customers WHERE customer_id = ?", customer_id)


@server.tool(title="Search products", annotations=READS)
def search_products(
    ctx: Context,
    category: Annotated[Category, Field(description="Product category")],
    max_price: Annotated[float | None, Field(description="Highest price in euros")] = None,
    limit: Limit = 5,
) -> list[Row]:
    """Find products of a category, the cheapest first."""
    query = "SELECT sku, name, price FROM products WHERE category = ? AND price <= ? ORDER BY price LIMIT ?"
    return rows(ctx, query, category, 1e9 if max_price is None else max_price, limit)


@server.tool(title="Get product", annotations=READS)
def get_product(ctx: Context, sku: Sku) -> Row:
    """Look up a product: name, category, price in euros and supplier."""
    return one(ctx, "product", "SELECT * FROM products WHERE sku = ?", sku)


@server.tool(title="Check stock", annotations=READS)
def check_stock(ctx: Context, sku: Sku) -> Row:
    """Say how many units of a product are in stock, and on which shelf."""
    return one(ctx, "product", "SELECT * FROM stock WHERE sku = ?", sku)


@server.tool(title="List orders", annotations=READS)
def list_orders(
    ctx: Context,
    customer_id: CustomerId,
    status: Annotated[Status | None, Field(description="Only orders with this status")] = None,
    limit: Limit = 5,
) -> list[Row]:
    """List the orders of a customer, the newest first."""
    one(ctx, "customer", "SELECT * FROM customers WHERE customer_id = ?", customer_id)
    query = "SELECT order_id, status, ordered FROM orders WHERE customer_id = ? AND status = ifnull(?, status)"
    return rows(ctx, query + " ORDER BY ordered DESC, order_id LIMIT ?", customer_id, status, limit)


@server.tool(title="Get order", annotations=READS)
def get_order(ctx: Context, order_id: OrderId) -> Row:
    """Look up an order: customer, product, quantity, status and the day it was ordered."""
    return one(ctx, "order", "SELECT * FROM orders WHERE order_id = ?", order_id)


@server.tool(title="Set order status", annotations=WRITES)
def set_order_status(
    ctx: Context, order_id: OrderId, status: Annotated[Status, Field(description="The new status")]
) -> Row:
    """Change the status of an order."""
    get_order(ctx, order_id)
    rows(ctx, "UPDATE orders SET status = ? WHERE order_id = ?", status, order_id)
    return {"order_id": order_id, "status": status}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A small shop as an MCP server.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on 127.0.0.1 instead of stdio")
    parser.add_argument("--seed", type=int, default=0, help="which shop to make")
    options = parser.parse_args()
    seed = options.seed
    if options.http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=options.http)
