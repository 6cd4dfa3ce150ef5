// The list of a client's link: its open invoices and the quotes that it can accept.
import { statementWords } from '#libs/documents/statement-words.ts';
import { html } from '#libs/pages/html.ts';
import { badge } from '#libs/pages/parts.ts';
import { findOpenDocuments } from '../../store/open-documents.ts';
import { stateOf } from '../document-state.ts';
import type { Page } from '../layout.ts';
import { pageLocale } from '../locale.ts';
import type { DocumentSubject, Visit } from '../visit.ts';

export async function documentsPage(visit: Visit): Promise<Page> {
  const { locale, home, account, request, link } = visit;
  const { words } = locale;
  const after = typeof request.query['after'] === 'string' ? request.query['after'] : undefined;
  const { documents, next } = await findOpenDocuments(visit, after);
  const body = html`<section class="card">
    <h1>${words.documents}</h1>
    ${documents.length === 0 ? html`<p>${words.nothingOpen}</p>` : null}
    <ul class="list">
      ${documents.map((document) => row(document, visit))}
    </ul>
    ${link.show_statement ? html`<p class="actions"><a class="button" href=${`${home}/statement`}>${statementWords(locale.language).title}</a></p>` : null}
    <nav class="pager" aria-label=${words.documents}>
      ${after ? html`<a href=${home} rel="prev">${words.previous}</a>` : html`<span></span>`}
      ${next ? html`<a href=${`${home}?after=${next}`} rel="next">${words.next}</a>` : null}
    </nav>
  </section>`;
  return { title: `${words.documents} · ${account.company || account.name}`, body, isCounted: true };
}

function row(
  { subject, number }: { subject: DocumentSubject; number: string },
  { locale, home, today, account }: Visit,
) {
  const state = stateOf(subject, today);
  const { minor } = pageLocale(account.locale, subject.record.currency);
  const name = `${locale.labels[subject.type].heading} ${number}`;
  return html`<li>
    <a href=${`${home}/${subject.type}s/${String(subject.record._id)}`}>
      <span><strong dir="auto">${name}</strong> ${badge(locale.words.states[state.name], state.tone)}</span>
      <span><bdi>${minor(state.sum)}</bdi> ${state.until ? html`<bdi class="quiet">${locale.day(state.until)}</bdi>` : null}</span>
    </a>
  </li>`;
}
