# The main flow through the Python client of openapi-generator. Run by test/release/clients/openapi-generator.test.ts.
import datetime
import json
import os
import re

import billhook

settings = billhook.Configuration(host=os.environ["URL"], access_token=os.environ["KEY"])
api = billhook.ApiClient(settings)
clients, quotes, invoices = billhook.ClientsApi(api), billhook.QuotesApi(api), billhook.InvoicesApi(api)
for name in ["Ada", "Ben", "Cleo"]:
    client = clients.add_client(billhook.AddClientBody(name=name, email=f"{name.lower()}@example.com")).data
project = billhook.ProjectsApi(api).create_project(billhook.CreateProjectBody(name="Engine", client_id=client.id)).data
entry = billhook.CreateTimeEntryBody(project_id=project.id, hours=2.5, date=datetime.date(2026, 11, 2))
time = billhook.TimeEntriesApi(api).create_time_entry(entry).data
quote = quotes.create_quote(billhook.CreateQuoteBody(client_id=client.id, amount=98765432.19)).data
line = billhook.LineItemInput(description="Work", quantity=2.5, rate=95)
due = datetime.date(2099, 12, 31)
body = billhook.CreateInvoiceBody(client_id=client.id, due_date=due, line_items=[line])
invoice = invoices.create_invoice(body).data
first = clients.list_clients_with_http_info(limit=2)
after = re.search(r'[?&]after=([^&>]+)[^>]*>; rel="next"', first.headers["Link"]).group(1)
second = clients.list_clients(limit=2, after=after)
try:
    clients.get_client(project.id)
except billhook.exceptions.NotFoundException as failure:
    missing = [failure.status, json.loads(failure.body)["error"]]
print(
    json.dumps(
        {
            "hours": time.hours,
            "quote": quote.amount,
            "amount": invoice.amount,
            "number": invoice.invoice_number,
            "names": [one.name for one in first.data.data + second.data],
            "pdf": bytes(invoices.print_invoice(invoice.id)[:5]).decode(),
            "missing": missing,
        }
    )
)
