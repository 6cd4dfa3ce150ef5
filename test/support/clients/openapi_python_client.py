# The main flow through the client that openapi-python-client makes. Run by test/release/clients/other-generators.test.ts.
import datetime
import json
import os

from billhook_client import AuthenticatedClient
from billhook_client.api.clients import add_client, get_client
from billhook_client.api.invoices import create_invoice, print_invoice, list_invoices, update_invoice
from billhook_client.api.projects import create_project
from billhook_client.api.time_entries import create_time_entry
from billhook_client import models

api = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["KEY"])
client = add_client.sync(client=api, body=models.AddClientBody(name="Ada", email="ada@example.com")).data
project = create_project.sync(client=api, body=models.CreateProjectBody(name="Engine", client_id=client.id)).data
entry = models.CreateTimeEntryBody(project_id=project.id, hours=2.5, date=datetime.date(2026, 11, 2))
time = create_time_entry.sync(client=api, body=entry).data
line = models.LineItemInput(description="Work", quantity=2.5, rate=95)
body = models.CreateInvoiceBody(client_id=client.id, due_date=datetime.date(2099, 12, 31), line_items=[line])
invoice = create_invoice.sync(client=api, body=body).data
sent = models.UpdateInvoiceBody(status=models.UpdateInvoiceBodyStatus.SENT)
assert update_invoice.sync(invoice.id, client=api, body=sent).success
page = list_invoices.sync(client=api, status="Sent,Overdue", client_id=client.id, limit=5)
pdf = print_invoice.sync(invoice.id, client=api)
missing = get_client.sync_detailed(project.id, client=api)
print(
    json.dumps(
        {
            "hours": time.hours,
            "amount": invoice.amount,
            "number": page.data[0].invoice_number,
            "total": page.pagination.total,
            "pdf": pdf.payload.read(5).decode(),
            "missing": [missing.status_code, missing.parsed.error],
        }
    )
)
