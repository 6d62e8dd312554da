//! A map of a small program, for rings that name none.

use std::path::PathBuf;
use std::sync::OnceLock;

const MAP: &str = r#"{"xhist":"map","version":3,"hash":"0000000000000001","root":"/p","tool":"0"}
{"file":1,"path":"a.rs","base":0,"first":1,"room":8}
{"fn":1,"path":"main","at":"1:11","end":"9:2"}
{"fn":1,"path":"f","at":"20:8","end":"29:2"}
{"loop":1,"at":"3:5","end":"6:6"}
{"stmt":1,"line":2,"col":5,"end":"2:9","kind":"let","fn":"main","calls":"f"}
{"stmt":1,"line":3,"col":5,"end":"6:6","kind":"expr","fn":"main"}
{"stmt":1,"line":4,"col":9,"end":"4:19","kind":"expr","fn":"main","calls":"f"}
{"stmt":1,"line":5,"col":9,"end":"5:19","kind":"expr","fn":"main"}
{"stmt":1,"line":7,"col":5,"end":"7:9","kind":"expr","fn":"main"}
{"stmt":1,"line":21,"col":5,"end":"21:9","kind":"expr","fn":"f","calls":"f"}
{"stmt":1,"line":22,"col":5,"end":"22:9","kind":"expr","fn":"f"}
"#;

/// Its file.
pub fn path() -> PathBuf {
    static MAP_FILE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        // A directory of its own: every report of a dump below the temporary directory would find the map there.
        let directory = std::env::temp_dir().join(format!("xhist-fuzz-map-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("app.map");
        std::fs::write(&path, MAP).expect("a file");
        path
    };
    MAP_FILE.get_or_init(make).clone()
}
