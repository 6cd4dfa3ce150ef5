// Where stores of tests keep their files: in memory if the machine offers it, because tests wait for thousands of commits.
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** A whole run writes less. Containers often have 64 MB there. */
const FREE_BYTES_MIN = 4 * 1024 ** 3;

/** @returns a folder for folders that are removed after the test. Nothing in it survives a power failure. */
export async function memoryFolder(): Promise<string> {
  const found = await statfs(IN_MEMORY).catch(() => undefined); // Only Linux has it.
  return found && found.bavail * found.bsize >= FREE_BYTES_MIN ? IN_MEMORY : tmpdir();
}
