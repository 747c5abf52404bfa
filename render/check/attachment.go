package check

import (
	"path"
	"strings"
)

// blocked are the extensions of files that Gmail and Outlook refuse, alone and in archives.
const blocked = ` .ade .adp .apk .appx .appxbundle .bat .cab .chm .cmd .com .cpl .dll .dmg .exe .hta .ins .iso .isp .jar .js .jse .lib .lnk .mde .msc .msi .msix .msixbundle .msp .mst .nsh .pif .ps1 .reg .scr .sct .shb .sys .vb .vbe .vbs .vhd .vxd .wsc .wsf .wsh .xll `

// attachments checks that providers let the attachments through.
func attachments(in Input, r *report) {
	for _, name := range in.Files {
		if ext := strings.ToLower(path.Ext(name)); ext != "" && strings.Contains(blocked, " "+ext+" ") {
			r.add("attachment-blocked", Warning, "attachment", "Gmail and Outlook refuse messages with a file such as %q", cut(name))
		}
	}
}
