// Input of links to documents: what the page shows, what its reader may do, and until when.
import Joi from 'joi';
import { moment, uuid } from '#libs/input/kinds.ts';
import { DocumentLink, type DocumentLinkRecord, documentLinkListing } from '#libs/models/portal/document-link.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { ACTS_OF, type LinkAct, type LinkSubject } from '#libs/rules/documents/link-terms.ts';
import { listOf } from '../http/list.ts';

export interface NewLinkBody {
  expires_at?: Date | null;
  show_time?: boolean | null;
  allow?: LinkAct[] | null;
  /** Known to a client's link alone. */
  show_statement?: boolean | null;
}

export function newLinkOf(subject: LinkSubject): Joi.ObjectSchema<NewLinkBody> {
  const acts = ACTS_OF[subject];
  return Joi.object<NewLinkBody>({
    expires_at: moment()
      .allow(null)
      .description('Unless given it ends 13 months after nothing more is due or can be accepted'),
    show_time: Joi.boolean()
      .allow(null)
      .description('Whether the page shows the hours behind each line; false unless set'),
    allow: Joi.array()
      .items(Joi.string().valid(...acts))
      .unique()
      .allow(null)
      .description(`What the reader may do; all that the key may allow unless given: ${acts.join(', ')}`),
    ...(subject === 'client' ? { show_statement: showStatement() } : {}),
  }).example({ show_time: true });
}

const showStatement = () =>
  Joi.boolean()
    .allow(null)
    .description('Whether the page shows the statement of account; unless given, where the key may read all of it');

export const documentLinkList = listOf<DocumentLinkRecord>(DocumentLink, documentLinkListing);

/** The id of a link in a path. */
export const linkId = uuid().required().description('UUID of the link').example(exampleId.links);
