from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("wholesale")

VENDOR_COLUMNS = "vendor name city contact email phone lead_days payment_terms min_order_eur".split()
VENDORS = [dict(zip(VENDOR_COLUMNS, r)) for r in [
    ("VN.012", "Alpenhof Dairy", "Hochdorf", "Theresa Wirth", "orders@alpenhof.example", "555-0171", 2, "14 days net", 150),
    ("VN.027", "Costa Verde Produce", "Sao Brito", "Rui Marques", "rui@costaverde.example", "555-0172", 3, "30 days net", 250),
    ("VN.031", "Molino Ricci", "Castelvento", "Gianna Ricci", "sales@molinoricci.example", "555-0173", 7, "30 days net", 400),
    ("VN.044", "Nordsea Fish", "Skagvik", "Anders Bakken", "desk@nordsea.example", "555-0174", 1, "cash on delivery", 200),
    ("VN.058", "Tandem Oils & Spices", "Marlow Bay", "Farah Qureshi", "farah@tandem.example", "555-0175", 10, "45 days net", 300),
    ("VN.063", "Bluebird Beverages", "Ashcombe", "Owen Castle", "hello@bluebird.example", "555-0176", 4, "14 days net", 180),
    ("VN.077", "Hearth Bakery", "Ashcombe", "Simone Petit", "bread@hearth.example", "555-0177", 1, "7 days net", 80),
]]

PRODUCT_COLUMNS = "sku name unit price_eur stock reorder_at location vendor".split()
PRODUCTS = {r[0]: dict(zip(PRODUCT_COLUMNS, r)) for r in [
    ("DAI-1007", "Unsalted butter", "carton 10 kg", 71.5, 38, 20, "Cold 2, bay 4", "VN.012"),
    ("DAI-1012", "Mozzarella block", "2.5 kg", 16.9, 64, 30, "Cold 2, bay 6", "VN.012"),
    ("DAI-1019", "Whipping cream 35%", "5 l", 19.4, 12, 25, "Cold 1, bay 1", "VN.012"),
    ("DAI-1023", "Mountain cheese wheel", "6 kg", 88.0, 9, 5, "Cold 2, bay 7", "VN.012"),
    ("VEG-2204", "Plum tomatoes", "crate 6 kg", 10.8, 55, 40, "Cold 3, bay 2", "VN.027"),
    ("VEG-2210", "Red onions", "sack 10 kg", 8.2, 73, 30, "Hall B, row 1", "VN.027"),
    ("VEG-2216", "Baby spinach", "box 2 kg", 9.6, 18, 20, "Cold 3, bay 5", "VN.027"),
    ("VEG-2221", "Lemons", "crate 5 kg", 11.3, 31, 15, "Cold 3, bay 3", "VN.027"),
    ("DRY-3301", "Pizza flour 00", "sack 25 kg", 24.6, 120, 60, "Hall A, row 9", "VN.031"),
    ("DRY-3308", "Penne rigate", "case 12 kg", 21.0, 47, 30, "Hall A, row 7", "VN.031"),
    ("DRY-3318", "Semolina", "sack 10 kg", 13.75, 22, 25, "Hall A, row 8", "VN.031"),
    ("SEA-4102", "Salmon fillet", "box 5 kg", 82.0, 14, 10, "Ice room, rack 1", "VN.044"),
    ("SEA-4105", "Cod loin", "box 5 kg", 69.5, 6, 8, "Ice room, rack 2", "VN.044"),
    ("SEA-4109", "Mussels", "net 3 kg", 14.2, 20, 12, "Ice room, rack 5", "VN.044"),
    ("OIL-5003", "Extra virgin olive oil", "canister 5 l", 46.0, 83, 30, "Hall A, row 3", "VN.058"),
    ("OIL-5007", "Sunflower oil", "canister 10 l", 22.5, 41, 25, "Hall A, row 4", "VN.058"),
    ("OIL-5015", "Smoked paprika", "tub 1 kg", 17.8, 16, 6, "Hall A, row 5", "VN.058"),
    ("BEV-6001", "Sparkling water", "case 12 x 1 l", 7.4, 150, 80, "Hall C, row 1", "VN.063"),
    ("BEV-6006", "Apple juice", "case 6 x 1 l", 9.9, 58, 40, "Hall C, row 2", "VN.063"),
    ("BEV-6011", "Ginger beer", "case 24 x 0.33 l", 18.6, 27, 20, "Hall C, row 4", "VN.063"),
    ("BAK-7002", "Burger buns", "case of 48", 15.3, 33, 24, "Freezer 1, bay 2", "VN.077"),
    ("BAK-7005", "Sourdough loaf", "tray of 6", 19.8, 8, 10, "Freezer 1, bay 3", "VN.077"),
]}

PO_COLUMNS = "po_number vendor sku quantity unit_cost_eur ordered_on buyer status delivery".split()
ORDERS = {r[0]: dict(zip(PO_COLUMNS, r)) for r in [
    ("2025/0398", "VN.012", "DAI-1007", 20, 58.0, "2025-05-28", "Ines", "closed", "D0602-A"),
    ("2025/0401", "VN.044", "SEA-4102", 12, 66.0, "2025-05-30", "Ravi", "closed", "D0602-B"),
    ("2025/0404", "VN.027", "VEG-2204", 60, 7.2, "2025-06-02", "Ines", "closed", "D0605-A"),
    ("2025/0407", "VN.031", "DRY-3301", 80, 18.5, "2025-06-02", "Ravi", "delivered", "D0609-A"),
    ("2025/0409", "VN.058", "OIL-5003", 40, 34.0, "2025-06-03", "Ines", "confirmed", "D0613-A"),
    ("2025/0412", "VN.012", "DAI-1019", 30, 14.2, "2025-06-06", "Joanna", "delivered", "D0610-A"),
    ("2025/0413", "VN.077", "BAK-7002", 24, 10.5, "2025-06-09", "Joanna", "delivered", "D0610-B"),
    ("2025/0415", "VN.044", "SEA-4105", 10, 54.0, "2025-06-10", "Ravi", "confirmed", "D0611-A"),
    ("2025/0416", "VN.027", "VEG-2216", 25, 6.4, "2025-06-10", "Ines", "confirmed", "D0613-B"),
    ("2025/0418", "VN.063", "BEV-6001", 100, 4.9, "2025-06-10", "Joanna", "sent", None),
    ("2025/0420", "VN.031", "DRY-3318", 30, 9.8, "2025-06-11", "Ravi", "sent", None),
    ("2025/0421", "VN.012", "DAI-1012", 40, 12.6, "2025-06-11", "Ines", "draft", None),
    ("2025/0423", "VN.058", "OIL-5015", 10, 12.4, "2025-06-12", "Joanna", "draft", None),
    ("2025/0424", "VN.063", "BEV-6011", 30, 13.1, "2025-06-12", "Joanna", "draft", None),
]}

DELIVERY_COLUMNS = "code po_number date dock carrier pallets temperature_c status".split()
DELIVERIES = {r[0]: dict(zip(DELIVERY_COLUMNS, r)) for r in [
    ("D0602-A", "2025/0398", "2025-06-02", 2, "CoolLine", 2, 4.1, "accepted"),
    ("D0602-B", "2025/0401", "2025-06-02", 3, "CoolLine", 1, 1.8, "accepted"),
    ("D0605-A", "2025/0404", "2025-06-05", 1, "Haulage Pinto", 3, 11.5, "accepted"),
    ("D0609-A", "2025/0407", "2025-06-09", 4, "Trento Trans", 5, None, "accepted"),
    ("D0610-A", "2025/0412", "2025-06-10", 2, "CoolLine", 1, 7.9, "disputed"),
    ("D0610-B", "2025/0413", "2025-06-10", 1, "Hearth own van", 1, None, "accepted"),
    ("D0611-A", "2025/0415", "2025-06-11", 3, "CoolLine", 1, None, "announced"),
    ("D0613-A", "2025/0409", "2025-06-13", 4, "Trento Trans", 2, None, "announced"),
    ("D0613-B", "2025/0416", "2025-06-13", 1, "Haulage Pinto", 1, None, "announced"),
]}


def total(po):
    return round(po["quantity"] * po["unit_cost_eur"], 2)


@server.tool(name="product-info")
def product_info(sku: str) -> dict:
    "Product by SKU (AAA-nnnn): unit, selling price, stock, reorder level, warehouse location, vendor code"
    if sku not in PRODUCTS:
        raise ToolError(f"SKU {sku} is not in the catalogue")
    return PRODUCTS[sku]


@server.tool(name="product-find")
def product_search(text: str = "", below_reorder_level: bool = False) -> dict:
    "Find products by words in the name, or those whose stock has fallen below the reorder level"
    if not text and not below_reorder_level:
        raise ToolError("text or below_reorder_level is needed")
    return {"products": [{k: p[k] for k in ("sku", "name", "price_eur", "stock")} for p in PRODUCTS.values()
                         if text.lower() in p["name"].lower() and (not below_reorder_level or p["stock"] < p["reorder_at"])]}


@server.tool(name="vendor-card")
def vendor_card(vendor: str) -> dict:
    "Vendor by code (VN.nnn) or by name: contact, e-mail, phone, lead time, payment terms, minimum order"
    for v in VENDORS:
        if vendor.upper() == v["vendor"] or (len(vendor) > 3 and vendor.lower() in v["name"].lower()):
            return v
    raise ToolError(f"No vendor matches '{vendor}'")


@server.tool(name="po-view")
def po_view(po_number: str) -> dict:
    "Purchase order by number (yyyy/nnnn): vendor code, SKU, quantity, cost, buyer, status, delivery code"
    if po_number not in ORDERS:
        return {"message": f"No purchase order {po_number} on file"}
    po = ORDERS[po_number]
    return {**po, "total_eur": total(po)}


@server.tool(name="po-list")
def po_list(vendor: Optional[str] = None, buyer: Optional[str] = None,
            status: Optional[Literal["draft", "sent", "confirmed", "delivered", "closed", "cancelled"]] = None) -> dict:
    "Purchase orders, filtered by vendor code, buyer (first name) and/or status"
    return {"purchase_orders": [{"po_number": po["po_number"], "vendor": po["vendor"], "ordered_on": po["ordered_on"], "total_eur": total(po), "status": po["status"]}
                                for po in ORDERS.values() if vendor in (None, po["vendor"]) and buyer in (None, po["buyer"]) and status in (None, po["status"])]}


@server.tool(name="delivery-view")
def delivery_view(code: str) -> dict:
    "Delivery by code (Dmmdd-X): purchase order, date, dock, carrier, pallets, temperature at arrival, status"
    if code not in DELIVERIES:
        raise ToolError(f"Delivery {code} unknown")
    return DELIVERIES[code]


@server.tool(name="delivery-list")
def delivery_list(date: Optional[str] = None, status: Optional[Literal["announced", "accepted", "disputed"]] = None) -> dict:
    "Deliveries of a day (YYYY-MM-DD) and/or with a status"
    return {"deliveries": [{k: d[k] for k in ("code", "date", "dock", "carrier", "pallets", "status")} for d in DELIVERIES.values()
                           if date in (None, d["date"]) and status in (None, d["status"])]}


@server.tool(name="stock-set")
def stock_set(sku: str, stock: int) -> dict:
    "Overwrite the stock of a product with a counted figure"
    if sku not in PRODUCTS:
        raise ToolError(f"SKU {sku} is not in the catalogue")
    if stock < 0:
        raise ToolError("stock can't be negative")
    before, PRODUCTS[sku]["stock"] = PRODUCTS[sku]["stock"], stock
    return {"sku": sku, "stock_before": before, "stock": stock}


@server.tool(name="po-update")
def po_update(po_number: str, quantity: Optional[int] = None,
              status: Optional[Literal["draft", "sent", "confirmed", "delivered", "closed", "cancelled"]] = None) -> dict:
    "Change status or quantity of a purchase order; the quantity only while it is a draft"
    if po_number not in ORDERS:
        return {"message": f"No purchase order {po_number} on file"}
    po = ORDERS[po_number]
    if quantity is not None:
        if po["status"] != "draft":
            return {"message": f"{po_number} is {po['status']}, its quantity is fixed"}
        po["quantity"] = quantity
    if status:
        po["status"] = status
    return {"po_number": po_number, "quantity": po["quantity"], "total_eur": total(po), "status": po["status"]}


if __name__ == "__main__":
    server.run()
