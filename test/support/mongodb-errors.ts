// Errors ordered from the server itself, for the connection of this process alone.
import mongoose from 'mongoose';

/**
 * @param mode for how many commands; `off` takes the order back.
 * @param data as MongoDB's fail point `failCommand` wants it: `failCommands` and `errorCode`, `closeConnection`, …
 */
export async function orderErrors(mode: 'off' | { times: number }, data: object = {}): Promise<void> {
  const { appName } = mongoose.connection.getClient().options;
  const admin = mongoose.connection.getClient().db('admin');
  await admin.command({
    configureFailPoint: 'failCommand',
    mode,
    ...(mode === 'off' ? {} : { data: { ...data, appName } }),
  });
}
