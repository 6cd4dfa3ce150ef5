// A MongoDB replica set of a test file's own, with a workspace on it: for tests that change who is primary.

import { eventually } from './eventually.ts';
import { type Member, type ReplicaSet, startReplicaSet } from './faults/system/replica-set.ts';
import { openGuardedFolder } from './guarded-folder.ts';
import { memoryFolder } from './memory-folder.ts';
import { steadyPort } from './steady-port.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface OwnSet {
  set: ReplicaSet;
  workspace: Workspace;
  /** A member that is not primary. */
  secondary(): Promise<Member>;
  /** Makes a member primary. */
  elect(member: Member): Promise<void>;
  /** By the server's own switch for tests: a member does not notice any more what a majority has, or all do again. */
  noticeNoMajority(member: Member): Promise<void>;
  noticeMajority(): Promise<void>;
  close(): Promise<void>;
}

/** No member is elected unless a test wants it: a busy machine would elect for no reason. */
const ELECTION_MS = 60_000;

/** @param name of the test, in the name of the folder. Give `beforeAll` three minutes: three members start one after the other. */
export async function openOwnSet(name: string): Promise<OwnSet> {
  const folder = await openGuardedFolder(name, await memoryFolder());
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
    return { set, workspace, ...switchesOf(set), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function switchesOf(set: ReplicaSet): Pick<OwnSet, 'secondary' | 'elect' | 'noticeNoMajority' | 'noticeMajority'> {
  const notice = (member: Member, mode: 'alwaysOn' | 'off') =>
    member.command({ configureFailPoint: 'disableSnapshotting', mode });
  return {
    async secondary() {
      const primary = await set.primary();
      return set.members.find((member) => member !== primary) as Member;
    },
    async elect(member) {
      await eventually(async () => {
        await member.command({ replSetStepUp: 1 }).catch(() => undefined);
        return (await set.primary()) === member;
      });
    },
    noticeNoMajority: async (member) => void (await notice(member, 'alwaysOn')),
    async noticeMajority() {
      for (const member of set.members) await notice(member, 'off');
    },
  };
}
