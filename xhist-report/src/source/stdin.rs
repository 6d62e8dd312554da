//! Standard input, to its end. It must not hold more than a bounded part of it in memory.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use super::{Image, Opened};

/// Longer input goes to a temporary file.
const MAX_IN_MEMORY: u64 = 256 << 20;

/// Reads standard input; maps are looked for from the working directory.
pub fn open(_: &OsStr) -> Result<Opened, String> {
    let image =
        read_all(io::stdin().lock()).map_err(|error| format!("cannot read standard input: {error}"))?;
    let (dir, losses) = (Some(PathBuf::from(".")), Vec::new());
    Ok(Opened { image, data: None, file: None, path: None, written: None, dir, losses })
}

/// Reads everything there is.
pub fn read_all(input: impl Read) -> io::Result<Image> {
    read_bounded(input, MAX_IN_MEMORY)
}

fn read_bounded(mut input: impl Read, max_in_memory: u64) -> io::Result<Image> {
    let mut bytes = Vec::new();
    input.by_ref().take(max_in_memory).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < max_in_memory {
        return Ok(Image::Bytes(bytes));
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(&bytes)?;
    drop(bytes);
    io::copy(&mut input, &mut file)?;
    file.rewind()?;
    Image::map(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_whole_in_a_file() {
        let input: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for max in [999, 1000, 1001] {
            let image = read_bounded(&input[..], max).unwrap();
            assert_eq!(&image[..], &input[..]);
            assert_eq!(matches!(image, Image::Bytes(_)), max > 1000);
        }
    }
}
