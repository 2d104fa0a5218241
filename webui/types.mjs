// SPDX-License-Identifier: GPL-2.0-or-later
// Types of openapi.json as the daemon prints it: node types.mjs OPENAPI.json. They are for the compiler alone.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import openapiTS, {astToString} from 'openapi-typescript'

const out = join(dirname(fileURLToPath(import.meta.url)), 'types/openapi.d.ts')
const document = JSON.parse(readFileSync(process.argv[2], 'utf8'))
// What is sent is made by forms from the same document, and refusals are one: only what a GET answers and may be asked with has
// types. The compiler would read ten times as much otherwise.
for (const item of Object.values(document.paths)) {
	for (const method of Object.keys(item)) if (method !== 'get') delete item[method]
	if (!item.get) continue
	item.get.parameters = item.get.parameters.filter(p => p.in === 'query')
	for (const status of Object.keys(item.get.responses)) if (Number(status) >= 400) delete item.get.responses[status]
}
for (const name of Object.keys(document.components.schemas)) if (name.endsWith('Patch')) delete document.components.schemas[name]
const types = astToString(await openapiTS(document))
mkdirSync(dirname(out), {recursive: true})
writeFileSync(out, '// SPDX-License-Identifier: GPL-2.0-or-later\n' + types)
