// SPDX-License-Identifier: GPL-2.0-or-later
// Types of openapi.json as the daemon prints it: node types.mjs OPENAPI.json. They are for the compiler alone.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import openapiTS, {astToString} from 'openapi-typescript'

const out = join(dirname(fileURLToPath(import.meta.url)), 'types/openapi.d.ts')
const document = JSON.parse(readFileSync(process.argv[2], 'utf8'))
// All refusals are one: they would be nine tenths of the types.
for (const item of Object.values(document.paths)) {
	for (const {responses} of Object.values(item)) {
		for (const status of Object.keys(responses ?? {})) if (Number(status) >= 400) delete responses[status]
	}
}
const types = astToString(await openapiTS(document))
mkdirSync(dirname(out), {recursive: true})
writeFileSync(out, '// SPDX-License-Identifier: GPL-2.0-or-later\n' + types)
