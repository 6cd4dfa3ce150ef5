// The table of every operation: the only place that knows the list of resources.
import { mailServerRoutes } from './account/mail-server-routes.ts';
import { accountRoutes } from './account/routes.ts';
import { stripeRoutes } from './account/stripe-routes.ts';
import { activityRoutes } from './activity/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { clientRoutes } from './clients/routes.ts';
import { statementSendRoutes } from './clients/statement-send-routes.ts';
import { creditNoteRoutes } from './credit-notes/routes.ts';
import { creditNoteSendRoutes } from './credit-notes/send-routes.ts';
import { batchRoutes } from './documents/batch-routes.ts';
import { documentRoutes } from './documents/routes.ts';
import { eInvoiceRoutes } from './e-invoices/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { expenseBillingRoutes } from './expenses/billing-routes.ts';
import { expenseRoutes } from './expenses/routes.ts';
import { withItems } from './fields/item-lines.ts';
import { hourPackageRoutes } from './hour-packages/routes.ts';
import { withOptionalFields } from './http/optional-fields.ts';
import type { Route } from './http/route.ts';
import { attachmentRoutes } from './invoices/attachment-routes.ts';
import { promiseRoutes } from './invoices/promise-routes.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import { invoiceSendRoutes } from './invoices/send-routes.ts';
import { invoiceTimeRoutes } from './invoices/time-routes.ts';
import { writeOffRoutes } from './invoices/write-off-routes.ts';
import { itemRoutes } from './items/routes.ts';
import { linkRoutes } from './links/routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { suppressionRoutes } from './messages/suppression-routes.ts';
import { mailTemplateRoutes } from './messages/template-routes.ts';
import { numberingRoutes } from './numbering/routes.ts';
import { balanceRoutes } from './payments/balance-routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { receiptSendRoutes } from './payments/send-routes.ts';
import { pdfToolRoutes } from './pdf-tool/routes.ts';
import { projectBillRoutes } from './projects/bill-routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { questionRoutes } from './questions/routes.ts';
import { quoteAcceptanceRoutes } from './quotes/acceptance-routes.ts';
import { quoteRoutes } from './quotes/routes.ts';
import { quoteSendRoutes } from './quotes/send-routes.ts';
import { recurringInvoiceRoutes } from './recurring-invoices/routes.ts';
import { reportRoutes } from './reports/routes.ts';
import { statementRoutes } from './reports/statement-routes.ts';
import { taskRoutes } from './tasks/routes.ts';
import { batchRoutes as timeBatchRoutes } from './time-entries/batch-routes.ts';
import { billingRoutes } from './time-entries/billing-routes.ts';
import { timeEntryRoutes } from './time-entries/routes.ts';
import { timerRoutes } from './timers/routes.ts';
import { unbilledRoutes } from './unbilled/routes.ts';
import { deliveryRoutes } from './webhooks/delivery-routes.ts';
import { portalRoutes } from './webhooks/portal-routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { signingRoutes } from './webhooks/signing-routes.ts';

export const routes: readonly Route[] = withOptionalFields(
  withItems([
    ...accountRoutes,
    ...apiKeyRoutes,
    ...clientRoutes,
    ...projectRoutes,
    ...projectBillRoutes,
    ...taskRoutes,
    ...timeEntryRoutes,
    ...billingRoutes,
    ...timeBatchRoutes,
    ...timerRoutes,
    ...expenseRoutes,
    ...expenseBillingRoutes,
    ...hourPackageRoutes,
    ...unbilledRoutes,
    ...itemRoutes,
    ...quoteRoutes,
    ...invoiceRoutes,
    ...invoiceTimeRoutes,
    ...writeOffRoutes,
    ...attachmentRoutes,
    ...recurringInvoiceRoutes,
    ...paymentRoutes,
    ...balanceRoutes,
    ...creditNoteRoutes,
    ...documentRoutes,
    ...batchRoutes,
    ...eInvoiceRoutes,
    ...invoiceSendRoutes,
    ...quoteSendRoutes,
    ...creditNoteSendRoutes,
    ...receiptSendRoutes,
    ...statementSendRoutes,
    ...messageRoutes,
    ...suppressionRoutes,
    ...mailTemplateRoutes,
    ...mailServerRoutes,
    ...stripeRoutes,
    ...linkRoutes,
    ...numberingRoutes,
    ...pdfToolRoutes,
    ...webhookRoutes,
    ...signingRoutes,
    ...portalRoutes,
    ...deliveryRoutes,
    ...eventRoutes,
    ...quoteAcceptanceRoutes,
    ...promiseRoutes,
    ...questionRoutes,
    ...activityRoutes,
    ...reportRoutes,
    ...statementRoutes,
  ]),
);
