// The stores as processes of this machine: their processor time, and the bytes that went in and out of them.
import mongoose from 'mongoose';
import type { Redis } from '#libs/redis/connection.ts';

export interface StoreReading {
  pid: number;
  /** Over its connections, both ways. */
  networkBytes: number;
}

interface ServerStatus {
  pid: unknown;
  network: { bytesIn: unknown; bytesOut: unknown };
}

/** @returns what the MongoDB says that mongoose is connected to. Its own heartbeats count as well; they are few. */
export async function readMongodb(): Promise<StoreReading> {
  const status = (await mongoose.connection.db?.admin().command({ serverStatus: 1 })) as ServerStatus;
  const { bytesIn, bytesOut } = status.network;
  // Either may be a Long.
  return { pid: Number(status.pid), networkBytes: Number(bytesIn) + Number(bytesOut) };
}

export async function readRedis(redis: Redis): Promise<StoreReading> {
  const info = await redis.info();
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return {
    pid: field('process_id'),
    networkBytes: field('total_net_input_bytes') + field('total_net_output_bytes'),
  };
}

/** @returns bytes of documents and of indexes in the database, before compression. */
export async function storedBytes(): Promise<number> {
  const stats = await mongoose.connection.db?.command({ dbStats: 1 });
  return Number(stats?.['dataSize']) + Number(stats?.['indexSize']);
}
