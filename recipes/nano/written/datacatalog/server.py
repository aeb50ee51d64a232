from typing import Annotated, Literal, Optional

from pydantic import Field

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("datacatalog", instructions="Catalogue of the company's datasets, the pipelines that fill them, the teams that own them and the quality checks.")

_D = ("title", "domain", "owner", "pipeline", "format", "rows", "size_gb", "tier", "retention_days", "contains_pii", "last_updated")
DATASETS = {row[0]: dict(zip(_D, row[1:])) for row in [
    ("orders-daily", "Orders per day", "sales", "order-systems", "load-orders", "parquet", 482310, 12.4, "gold", 730, True, "2025-05-19"),
    ("order-returns", "Returned orders", "sales", "order-systems", "load-orders", "parquet", 38120, 1.1, "silver", 365, True, "2025-05-19"),
    ("customer-master", "Customer master data", "sales", "crm-squad", "sync-crm", "delta", 218900, 4.2, "gold", 3650, True, "2025-05-20"),
    ("product-catalogue", "Product catalogue", "sales", "order-systems", "sync-erp", "parquet", 58770, 3.4, "gold", 1825, False, "2025-05-18"),
    ("web-sessions", "Website sessions", "marketing", "growth-analytics", "stream-clicks", "delta", 91240000, 310.5, "silver", 90, True, "2025-05-20"),
    ("ad-spend", "Advertising spend by channel", "marketing", "growth-analytics", "pull-ad-platforms", "csv", 15480, 0.3, "gold", 1095, False, "2025-05-12"),
    ("newsletter-opens", "Newsletter opens", "marketing", "crm-squad", "pull-mailings", "delta", 2760400, 8.7, "bronze", 180, True, "2025-04-25"),
    ("customer-churn-scores", "Churn scores per customer", "marketing", "data-science", "score-churn", "parquet", 204113, 0.9, "silver", 365, True, "2025-05-18"),
    ("invoices-monthly", "Invoices by month", "finance", "finance-data", "close-books", "parquet", 67450, 2.6, "gold", 3650, True, "2025-05-01"),
    ("payroll-summary", "Payroll summary", "finance", "people-data", "close-books", "csv", 1240, 0.1, "silver", 2555, True, "2025-05-01"),
    ("general-ledger", "General ledger", "finance", "finance-data", "close-books", "delta", 1530200, 18.3, "gold", 3650, False, "2025-05-02"),
    ("vendor-payments", "Payments to suppliers", "finance", "finance-data", "sync-erp", "csv", 24810, 0.6, "silver", 2555, False, "2025-05-18"),
    ("exchange-rates", "Daily exchange rates", "finance", "finance-data", "pull-rates", "csv", 41200, 0.2, "gold", 3650, False, "2025-05-19"),
    ("stock-levels", "Stock by warehouse", "logistics", "warehouse-ops", "sync-erp", "delta", 76320, 1.8, "gold", 365, False, "2025-05-18"),
    ("parcel-tracking", "Parcel events", "logistics", "warehouse-ops", "stream-parcels", "delta", 12840000, 44.0, "silver", 120, True, "2025-05-16"),
    ("fuel-usage", "Fuel used by delivery vans", "logistics", "warehouse-ops", "upload-telematics", "csv", 9310, 0.2, "bronze", 365, False, "2025-05-19"),
    ("supplier-scorecards", "Supplier scorecards", "logistics", "data-science", "sync-erp", "csv", 412, 0.1, "bronze", 730, False, "2025-03-31"),
]}

_P = ("schedule", "engine", "runtime_min", "last_run", "last_status", "state", "maintainer", "monthly_cost_usd")
PIPELINES = {row[0]: dict(zip(_P, row[1:])) for row in [
    ("load-orders", "every day 03:15", "airflow", 22, "2025-05-20 03:15", "success", "active", "order-systems", 184.0),
    ("stream-clicks", "continuous", "flink", None, "2025-05-20 00:00", "success", "active", "platform-core", 1240.0),
    ("pull-ad-platforms", "Mondays 06:00", "airbyte", 9, "2025-05-19 06:00", "failed", "active", "growth-analytics", 75.5),
    ("pull-mailings", "Fridays 05:30", "airbyte", 14, "2025-04-25 05:30", "success", "paused", "growth-analytics", 38.0),
    ("sync-crm", "every 4 hours", "airbyte", 31, "2025-05-20 08:00", "success", "active", "crm-squad", 212.0),
    ("score-churn", "Sundays 22:00", "spark", 95, "2025-05-18 22:00", "success", "active", "data-science", 330.0),
    ("close-books", "first of the month 04:00", "dbt", 140, "2025-05-01 04:00", "success", "active", "finance-data", 96.0),
    ("sync-erp", "every day 01:00", "airflow", 48, "2025-05-20 01:00", "failed", "active", "platform-core", 265.5),
    ("stream-parcels", "continuous", "flink", None, "2025-05-16 14:20", "stopped", "paused", "warehouse-ops", 610.0),
    ("upload-telematics", "every day 23:45", "python script", 6, "2025-05-19 23:45", "success", "active", "warehouse-ops", 11.0),
    ("pull-rates", "weekdays 17:05", "python script", 2, "2025-05-19 17:05", "success", "active", "platform-core", 4.5),
]}

_O = ("lead", "email", "channel", "cost_centre", "room")
OWNERS = {row[0]: dict(zip(_O, row[1:])) for row in [
    ("order-systems", "Marisol Teague", "order-systems@corp.example", "#orders-data", "CC-4110", "Lisbon"),
    ("growth-analytics", "Devraj Anand", "growth@corp.example", "#growth-numbers", "CC-4205", "Oslo"),
    ("crm-squad", "Hanne Lykke", "crm-squad@corp.example", "#crm-help", "CC-4220", "Oslo"),
    ("data-science", "Bo Rasmin", "ds-desk@corp.example", "#ds-desk", "CC-5010", "Kyoto"),
    ("finance-data", "Ingrid Solheim", "ledger@corp.example", "#ledger-talk", "CC-3100", "Vienna"),
    ("people-data", "Femi Alade", "people-data@corp.example", "#people-numbers", "CC-2040", "Vienna"),
    ("warehouse-ops", "Piotr Zawada", "wh-data@corp.example", "#wh-data", "CC-6300", "Hall 2"),
    ("platform-core", "Yuki Tanabe", "platform@corp.example", "#platform-core", "CC-1001", "Bergen"),
]}

_C = ("dataset", "rule", "severity", "tolerance_pct", "added_by", "last_checked", "result", "failing_rows")
CHECKS = {row[0]: dict(zip(_C, row[1:])) for row in [
    ("order-id-unique", "orders-daily", "unique", "error", 0.0, "order-systems", "2025-05-20", "failed", 37),
    ("orders-present", "orders-daily", "row count", "error", 0.0, "platform-core", "2025-05-20", "passed", 0),
    ("return-reason-set", "order-returns", "not null", "warning", 1.0, "order-systems", "2025-05-20", "failed", 512),
    ("session-country", "web-sessions", "accepted values", "warning", 0.0, "growth-analytics", "2025-05-19", "failed", 4180),
    ("sessions-fresh", "web-sessions", "freshness", "warning", 0.0, "growth-analytics", "2025-05-20", "passed", 0),
    ("email-shape", "customer-master", "pattern", "warning", 0.2, "crm-squad", "2025-05-20", "failed", 1296),
    ("phone-shape", "customer-master", "pattern", "warning", 0.1, "crm-squad", "2025-05-20", "failed", 340),
    ("customer-id-unique", "customer-master", "unique", "error", 0.0, "platform-core", "2025-05-20", "passed", 0),
    ("score-between-0-and-1", "customer-churn-scores", "range", "error", 0.0, "data-science", "2025-05-18", "passed", 0),
    ("invoice-total-match", "invoices-monthly", "sum match", "error", 0.1, "finance-data", "2025-05-01", "passed", 4),
    ("debit-equals-credit", "general-ledger", "sum match", "error", 0.0, "finance-data", "2025-05-02", "passed", 0),
    ("iban-shape", "vendor-payments", "pattern", "error", 0.1, "finance-data", "2025-05-18", "failed", 58),
    ("no-negative-stock", "stock-levels", "range", "error", 0.0, "warehouse-ops", "2025-05-18", "failed", 21),
    ("stock-fresh", "stock-levels", "freshness", "warning", 0.0, "platform-core", "2025-05-20", "failed", 76320),
    ("price-present", "product-catalogue", "not null", "error", 0.3, "order-systems", "2025-05-18", "passed", 2),
    ("rates-fresh", "exchange-rates", "freshness", "error", 0.0, "platform-core", "2025-05-19", "passed", 0),
    ("payroll-present", "payroll-summary", "row count", "error", 5.0, "people-data", "2025-05-01", "passed", 0),
]}


def _need(table, name, what):
    if name not in table:
        raise ToolError(f"{what} '{name}' does not exist in the catalogue")
    return table[name]


@server.tool(name="search-datasets", description="Search datasets by a word in name or title, by business domain and/or by tier. Returns a table (name, title, size, tier), at most 15 rows.")
def search_datasets(text: Annotated[Optional[str], Field(description="word or part of a word")] = None,
                    domain: Optional[Literal["sales", "marketing", "finance", "logistics"]] = None,
                    tier: Optional[Literal["gold", "silver", "bronze"]] = None) -> str:
    rows = [(n, d) for n, d in DATASETS.items()
            if (text is None or text.lower() in f"{n} {d['title']}".lower()) and (domain is None or d["domain"] == domain) and (tier is None or d["tier"] == tier)]
    if not rows:
        return "0 datasets found"
    return "name | title | size_gb | tier\n" + "\n".join(f"{n} | {d['title']} | {d['size_gb']} | {d['tier']}" for n, d in rows[:15])


@server.tool(name="get-dataset", description="Catalogue entry of one dataset.")
def get_dataset(name: Annotated[str, Field(description="dataset name, e.g. orders-daily")]) -> str:
    d = _need(DATASETS, name, "dataset")
    return f"name: {name}\n" + "\n".join(f"{k}: {('yes' if v else 'no') if isinstance(v, bool) else v}" for k, v in d.items())


@server.tool(name="get-pipeline", description="Schedule, engine, last run, state, maintaining team and monthly cost of a pipeline.")
def get_pipeline(name: str) -> dict:
    return {"name": name, **_need(PIPELINES, name, "pipeline")}


@server.tool(name="get-owner", description="Contact data of a team that owns or maintains data: lead, email, chat channel, cost centre, room.")
def get_owner(team: Annotated[str, Field(description="team key such as crm-squad")]) -> dict:
    if team not in OWNERS:
        return {"found": False, "message": f"no team with the key {team}"}
    return {"team": team, **OWNERS[team]}


@server.tool(name="list-checks", description="Quality checks with their latest result, of one dataset and/or with one result.")
def list_checks(dataset: Optional[str] = None, result: Optional[Literal["passed", "failed"]] = None) -> list[dict]:
    if dataset is None and result is None:
        raise ToolError("pass dataset or result")
    if dataset is not None:
        _need(DATASETS, dataset, "dataset")
    return [{"check": n, "result": c["result"], "failing_rows": c["failing_rows"]} for n, c in CHECKS.items()
            if (dataset is None or c["dataset"] == dataset) and (result is None or c["result"] == result)]


@server.tool(name="get-check", description="Definition of one quality check: dataset, rule, severity, tolerance, who added it, last result.")
def get_check(name: str) -> dict:
    return {"check": name, **_need(CHECKS, name, "check")}


@server.tool(name="update-dataset", description="Change tier, retention (days) or owning team of a dataset; only what is passed changes.")
def update_dataset(name: str, tier: Optional[Literal["gold", "silver", "bronze"]] = None, retention_days: Optional[int] = None, owner: Optional[str] = None) -> str:
    d = _need(DATASETS, name, "dataset")
    if owner is not None:
        _need(OWNERS, owner, "team")
    changes = {k: v for k, v in (("tier", tier), ("retention_days", retention_days), ("owner", owner)) if v is not None}
    if not changes:
        raise ToolError("nothing to change")
    lines = [f"{k}: {d[k]} -> {v}" for k, v in changes.items()]
    d.update(changes)
    return f"updated {name}\n" + "\n".join(lines)


@server.tool(name="set-pipeline-state", description="Pause a pipeline or make it active again.")
def set_pipeline_state(pipeline: str, state: Literal["active", "paused"]) -> dict:
    p = _need(PIPELINES, pipeline, "pipeline")
    before, p["state"] = p["state"], state
    return {"pipeline": pipeline, "previous_state": before, "state": state}


@server.tool(name="add-check", description="Add a quality check to a dataset.")
def add_check(dataset: str, rule: Literal["unique", "not null", "range", "pattern", "freshness", "row count"], severity: Literal["warning", "error"]) -> dict:
    _need(DATASETS, dataset, "dataset")
    name = f"{dataset}-{rule.replace(' ', '-')}"
    CHECKS[name] = dict(zip(_C, (dataset, rule, severity, 0.0, "you", None, "not run", 0)))
    return {"added": name, "dataset": dataset, "rule": rule, "severity": severity}


if __name__ == "__main__":
    server.run()
