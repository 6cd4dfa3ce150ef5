// The page of an invoice beside a bare server that makes the same queries and sends their results.
import getPort from 'get-port';
import mongoose from 'mongoose';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { hashToken, makeToken } from '#libs/models/token.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { nodeEnvironmentOf, nodeFlagsOf } from '../../deploy/local/node-flags.ts';
import { withDatabase } from '../../test/support/workspace.ts';
import { type BenchAccount, seedAccount } from './api-data.ts';
import { compare } from './compare.ts';
import { startFloorProcess } from './floor-process.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import type { Row } from './rows.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** So many that neither a link nor an address reaches its limit. */
const LINKS = 2_000;
const ADDRESSES = 1_000;

export async function* bench({ mongodbUri, redisUrl }: BenchOptions): AsyncGenerator<Row[]> {
  const name = `bench_portal_${process.pid}`;
  const uri = withDatabase(mongodbUri, name);
  const disconnect = await connectMongo(uri, { log: makeLogger('bench', 'silent') });
  const servers: ServerProcess[] = [];
  try {
    await ensureIndexes();
    progress('portal: making records');
    const paths = await seedLinks(await seedAccount(uri, 1_000));
    const ours = await startPortalProcess(uri, redisUrl, name);
    servers.push(ours);
    const floor = await startFloorProcess(uri);
    servers.push(floor);
    const addresses = Array.from({ length: ADDRESSES }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const work = { name: 'portal page of an invoice', method: 'GET', keys: [''], paths, addresses } as const;
    yield await compare({ ours, floor }, work, 0.6);
  } finally {
    for (const server of servers) await server.stop();
    await mongoose.connection.dropDatabase();
    await disconnect();
  }
}

/** Issues the invoices and makes links to them. @returns the paths of their pages. */
async function seedLinks({ id, invoiceIds }: BenchAccount): Promise<string[]> {
  await Invoice.updateMany({ account_id: id, _id: { $in: invoiceIds } }, { status: 'Sent' });
  const invoices = await Invoice.find({ account_id: id, _id: { $in: invoiceIds } }).lean<InvoiceRecord[]>();
  const tokens = Array.from({ length: LINKS }, makeToken);
  await DocumentLink.insertMany(
    tokens.map((token, index) => {
      const { account_id, _id, client_id } = invoices[index % invoices.length] as InvoiceRecord;
      const subject = { account_id, client_id, subject_type: 'invoice', subject_id: _id };
      return { ...subject, hash: hashToken(token), allow: ['pay'], show_time: false, opens: 0 };
    }),
  );
  return tokens.map((token) => `/p/${token}`);
}

async function startPortalProcess(uri: string, redisUrl: string, prefix: string): Promise<ServerProcess> {
  const [port, health] = [await getPort(), await getPort()];
  const env = {
    ...nodeEnvironmentOf('portal'),
    PORTAL_HOST: '127.0.0.1',
    PORTAL_PORT: String(port),
    PORTAL_TRUST_PROXY: '1',
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: String(health),
    MONGODB_URI: uri,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  };
  return startServer([...nodeFlagsOf('portal'), 'services/portal/main.ts'], env, {
    url: `http://127.0.0.1:${port}`,
    probe: `http://127.0.0.1:${health}/readyz`,
  });
}
