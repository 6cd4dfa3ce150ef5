// A MongoDB replica set of a test file's own, with a workspace on it: for tests that change who is primary.
import { type ReplicaSet, startReplicaSet } from '../faults/replica-set.ts';
import { openGuardedFolder } from './guarded-folder.ts';
import { steadyPort } from './steady-port.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface OwnSet {
  set: ReplicaSet;
  workspace: Workspace;
  close(): Promise<void>;
}

/** No member is elected unless a test wants it: a busy machine would elect for no reason. */
const ELECTION_MS = 60_000;

/** @param name of the test, in the name of the folder. Give `beforeAll` three minutes: three members start one after the other. */
export async function openOwnSet(name: string): Promise<OwnSet> {
  const folder = await openGuardedFolder(name);
  const closers: (() => Promise<unknown>)[] = [folder.close];
  async function close() {
    for (const closer of closers.toReversed()) await closer();
  }
  try {
    const ports: number[] = [];
    for (let count = 0; count < 3; count += 1) ports.push(await steadyPort());
    const env = { ...process.env, ...folder.markedAs('test') };
    const set = await startReplicaSet({
      folder: folder.path,
      env,
      ports,
      proxyPorts: ports,
      electionTimeoutMs: ELECTION_MS,
    });
    closers.push(set.stop);
    process.env['TEST_MONGODB_URI'] = set.uri;
    const workspace = await openWorkspace();
    closers.push(workspace.close);
    return { set, workspace, close };
  } catch (error) {
    await close();
    throw error;
  }
}
