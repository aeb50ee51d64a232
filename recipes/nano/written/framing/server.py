from typing import Annotated, Literal

from pydantic import Field

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("framing-workshop")

Glass = Literal["none", "clear", "non-reflective", "museum", "acrylic"]
Status = Literal["quoted", "cutting", "assembled", "ready", "collected"]
OrderNo = Annotated[str, Field(description="order number, e.g. F-2041")]
Sku = Annotated[str, Field(description="moulding code, e.g. M-10")]


def gbp(amount: str) -> dict:
    return {"amount": amount, "currency": "GBP"}


CUSTOMERS = {e: {"email": e, "name": n, "contact": {"phone": p, "town": t}, "trade": {"account": d > 0, "discount_percent": d}}
             for e, n, p, t, d in [
    ("nora.quill@post.example", "Nora Quill", "555-0131", "Ludlow", 0),
    ("gallery@eastwharf.example", "East Wharf Gallery", "555-0132", "Bristol", 15),
    ("b.adeyemi@mail.example", "Bola Adeyemi", "555-0133", "Hereford", 0),
    ("tess@harrow.example", "Tess Harrow", "555-0134", "Ludlow", 0),
    ("vikram@sol.example", "Vikram Sol", "555-0135", "Leominster", 10),
    ("office@stannes.example", "St Anne's School", "555-0136", "Ludlow", 5),
    ("jo.pell@post.example", "Jo Pell", "555-0137", "Tenbury", 0),
    ("marek@zielin.example", "Marek Zielin", "555-0138", "Hereford", 0),
    ("lou.carver@mail.example", "Lou Carver", "555-0139", "Bristol", 0),
    ("dana@osei.example", "Dana Osei", "555-0140", "Clun", 0),
]}

MOULDINGS = {s: {"sku": s, "name": n, "profile": {"width_mm": w, "finish": f}, "stock": {"metres": m, "rack": r},
                 "price_per_metre": gbp(p), "supplier": {"name": sup, "lead_days": ld}, "matching_slip": slip}
             for s, n, w, f, m, r, p, sup, ld, slip in [
    ("M-10", "Plain Oak", 20, "natural", 34, "A1", "6.40", "Timberline", 5, "M-90"),
    ("M-12", "Wide Oak", 45, "natural", 12, "A2", "11.80", "Timberline", 6, "M-90"),
    ("M-20", "Black Cushion", 25, "black", 41, "B1", "5.20", "Arlo Frames", 3, "M-91"),
    ("M-22", "Black Box", 15, "black", 8, "B1", "4.75", "Arlo Frames", 3, None),
    ("M-30", "Gold Swept", 60, "gold", 6, "C1", "24.50", "Doria", 14, "M-92"),
    ("M-31", "Gold Bead", 18, "gold", 22, "C2", "9.90", "Doria", 14, "M-92"),
    ("M-33", "Pale Gold Flat", 30, "gold", 15, "C2", "13.20", "Doria", 10, "M-92"),
    ("M-40", "White Scoop", 35, "white", 19, "D1", "7.60", "Arlo Frames", 3, "M-93"),
    ("M-42", "Limed Ash", 28, "white", 27, "D2", "8.30", "Timberline", 7, "M-93"),
    ("M-50", "Walnut Hockey", 22, "natural", 4, "E1", "10.60", "Timberline", 9, "M-90"),
    ("M-90", "Oak Slip", 8, "natural", 50, "S1", "2.10", "Timberline", 5, None),
    ("M-91", "Silver Slip", 6, "silver", 33, "S1", "2.40", "Arlo Frames", 4, None),
    ("M-92", "Gold Slip", 6, "gold", 28, "S2", "3.10", "Doria", 14, None),
    ("M-93", "Linen Slip", 12, "white", 9, "S2", "4.60", "Arlo Frames", 8, None),
]}

ORDERS = {o: {"order": o, "customer": {"email": c}, "artwork": {"title": t, "kind": k, "size_cm": {"width": w, "height": h}},
              "frame": {"moulding": m, "glass": g, "mount": mt}, "price": gbp(p), "dates": {"taken": a, "due": d}, "status": s}
          for o, c, t, k, w, h, m, g, mt, p, a, d, s in [
    ("F-2041", "nora.quill@post.example", "Harbour at Dawn", "watercolour", 40, 30, "M-10", "clear", "ivory", "68.00", "2026-09-01", "2026-09-15", "ready"),
    ("F-2042", "gallery@eastwharf.example", "Red Field", "oil", 120, 90, "M-30", "none", None, "310.00", "2026-09-01", "2026-09-25", "cutting"),
    ("F-2043", "gallery@eastwharf.example", "Blue Field", "oil", 100, 80, "M-30", "none", None, "265.00", "2026-09-01", "2026-09-25", "quoted"),
    ("F-2044", "b.adeyemi@mail.example", "Wedding Portrait", "photo", 30, 40, "M-31", "non-reflective", "white", "84.50", "2026-09-02", "2026-09-16", "assembled"),
    ("F-2045", "tess@harrow.example", "Signed Football Shirt", "textile", 80, 90, "M-22", "acrylic", "black", "145.00", "2026-09-03", "2026-09-19", "cutting"),
    ("F-2046", "vikram@sol.example", "Tiger Print", "print", 50, 70, "M-20", "clear", None, "72.00", "2026-09-03", "2026-09-14", "ready"),
    ("F-2047", "office@stannes.example", "Class of 1926", "photo", 60, 40, "M-50", "museum", "ivory", "128.00", "2026-09-04", "2026-09-22", "cutting"),
    ("F-2048", "jo.pell@post.example", "Grandad's Medals", "object", 25, 20, "M-12", "museum", "navy", "96.00", "2026-09-04", "2026-09-18", "assembled"),
    ("F-2049", "marek@zielin.example", "Tatra Map", "map", 70, 50, "M-42", "non-reflective", "white", "104.00", "2026-09-05", "2026-09-21", "quoted"),
    ("F-2050", "lou.carver@mail.example", "Tour Poster", "print", 60, 90, "M-22", "acrylic", None, "79.00", "2026-09-05", "2026-09-17", "ready"),
    ("F-2051", "dana@osei.example", "Kente Panel", "textile", 45, 110, "M-50", "non-reflective", "ivory", "152.00", "2026-09-06", "2026-09-26", "quoted"),
    ("F-2052", "gallery@eastwharf.example", "Grey Field", "oil", 60, 60, "M-33", "none", None, "140.00", "2026-09-08", "2026-09-25", "assembled"),
    ("F-2053", "nora.quill@post.example", "Fern Study", "watercolour", 30, 35, "M-40", "museum", "ivory", "88.00", "2026-09-08", "2026-09-20", "cutting"),
    ("F-2054", "vikram@sol.example", "Elephant Print", "print", 50, 70, "M-20", "clear", None, "72.00", "2026-09-08", "2026-09-22", "quoted"),
    ("F-2055", "office@stannes.example", "Founder's Portrait", "oil", 75, 100, "M-30", "none", None, "240.00", "2026-08-20", "2026-09-05", "collected"),
    ("F-2056", "tess@harrow.example", "Baby Handprints", "paper", 20, 25, "M-40", "clear", "white", "39.50", "2026-08-24", "2026-09-04", "collected"),
    ("F-2057", "marek@zielin.example", "Chopin Score", "paper", 42, 30, "M-31", "museum", "navy", "112.00", "2026-09-09", "2026-09-23", "quoted"),
    ("F-2058", "dana@osei.example", "Accra Market", "print", 40, 60, "M-42", "clear", "white", "66.00", "2026-09-09", "2026-09-21", "cutting"),
]}


def not_found(what: str, key: str) -> dict:
    return {"error": {"code": "not_found", "message": f"no {what} {key}"}}


def order_or_fail(order: str) -> dict:
    if order not in ORDERS:
        raise ToolError(f"Order {order} does not exist.")
    return ORDERS[order]


@server.tool(name="order-card", description="Everything about one framing order: customer e-mail, artwork, frame, price, dates, status.")
def get_order(order: OrderNo) -> dict:
    return order_or_fail(order)


@server.tool(name="find-orders", description="Search orders by part of the artwork's title, customer e-mail, status or moulding code. Give at least one.")
def find_orders(title: str | None = None, customer: Annotated[str | None, Field(description="customer's e-mail")] = None,
                status: Status | None = None, moulding: str | None = None) -> dict:
    if not (title or customer or status or moulding):
        raise ToolError("Give at least one filter.")
    hits = [o for o in ORDERS.values()
            if (not title or title.lower() in o["artwork"]["title"].lower())
            and (not customer or o["customer"]["email"] == customer)
            and (not status or o["status"] == status) and (not moulding or o["frame"]["moulding"] == moulding)]
    return {"orders": [{"order": o["order"], "title": o["artwork"]["title"], "status": o["status"], "price": o["price"]} for o in hits]}


@server.tool(name="customer-card", description="A customer by e-mail: name, contact, trade terms.")
def get_customer(email: str) -> dict:
    return CUSTOMERS.get(email) or not_found("customer", email)


@server.tool(name="find-customer", description="Customers whose name contains the text.")
def find_customer(name: str) -> dict:
    return {"customers": [{"email": c["email"], "name": c["name"]} for c in CUSTOMERS.values() if name.lower() in c["name"].lower()]}


@server.tool(name="get-moulding", description="A moulding by code: profile, stock, price per metre, supplier, matching slip.")
def get_moulding(sku: Sku) -> dict:
    return MOULDINGS.get(sku) or not_found("moulding", sku)


@server.tool(name="list-mouldings", description="Mouldings, optionally only one finish or with a name containing some text.")
def list_mouldings(finish: Literal["natural", "black", "gold", "white", "silver"] | None = None, name: str | None = None) -> dict:
    return {"mouldings": [{"sku": m["sku"], "name": m["name"], "price_per_metre": m["price_per_metre"]} for m in MOULDINGS.values()
                          if (not finish or m["profile"]["finish"] == finish) and (not name or name.lower() in m["name"].lower())]}


@server.tool(name="move-order", description="Move an order along.")
def set_order_status(order: OrderNo, status: Status) -> dict:
    o = order_or_fail(order)
    old, o["status"] = o["status"], status
    return {"order": order, "status": {"from": old, "to": status}}


@server.tool(name="set-glass", description="Change the glazing of an order.")
def set_glass(order: OrderNo, glass: Glass) -> dict:
    o = order_or_fail(order)
    old, o["frame"]["glass"] = o["frame"]["glass"], glass
    return {"order": order, "frame": {"glass": {"from": old, "to": glass}}}


@server.tool(name="set-moulding-stock", description="Record the metres of a moulding now on the rack (absolute count).")
def set_moulding_stock(sku: Sku, metres: int) -> dict:
    if sku not in MOULDINGS:
        return not_found("moulding", sku)
    MOULDINGS[sku]["stock"]["metres"] = metres
    return {"sku": sku, "stock": MOULDINGS[sku]["stock"]}


if __name__ == "__main__":
    server.run()
