// The first reader of the OpenAPI document delays no other caller: the document is made in small steps.
import { expect, test } from '@jest/globals';
import { makeOpenApi } from '../../../services/gateway/reference/openapi.ts';
import { routeTable } from '../../support/route-table.ts';

test('when the document is made, then other requests get their turn after each operation', async () => {
  let turns = 0;
  let isMade = false;
  const takeTurn = () => {
    turns += 1;
    if (!isMade) setImmediate(takeTurn);
  };
  takeTurn();

  await makeOpenApi(routeTable, '0.0.0');

  isMade = true;
  expect(turns).toBeGreaterThanOrEqual(routeTable.length);
});
