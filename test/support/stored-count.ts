// How many records the worker's database has, in one call: counting each of its collections takes longer than the requests of most tests.
import mongoose from 'mongoose';

export async function storedCount(): Promise<number> {
  const stats = await mongoose.connection.db?.command({ dbStats: 1 });
  return stats?.['objects'] as number;
}
